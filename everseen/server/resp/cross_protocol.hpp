#pragma once

#include <span>
#include <string_view>

namespace everseen::server {

/// Whether an inline command belongs to an HTTP request: `POST / HTTP/1.1`, `Host: ...`.
///
/// A page of any site can make a browser send such a request to a port of this machine, with commands as
/// lines of its body. The request line always comes first; a server that closes the connection there runs
/// none of them.
[[nodiscard]] bool is_of_http(std::span<const std::string_view> line) noexcept;

}  // namespace everseen::server
