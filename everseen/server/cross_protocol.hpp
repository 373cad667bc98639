#pragma once

#include <span>
#include <string_view>

namespace everseen::server {

/// Whether a typed line belongs to a request of HTTP: `POST / HTTP/1.1`, `Host: ...`.
///
/// A page of any site can make a browser send such a request to a port of this machine, with lines in its
/// body that are commands. Its first line comes first, always; who ends the connection there runs none of
/// them.
[[nodiscard]] bool is_of_http(std::span<const std::string_view> line) noexcept;

}  // namespace everseen::server
