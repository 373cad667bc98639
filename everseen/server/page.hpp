#pragma once

#include <span>
#include <string_view>

/// The page that a browser gets at `/`: the files of web/, as they were built into the program.
///
/// Immutable and without state. Threads: any. Cost: a comparison a file, of which there are less than ten.
namespace everseen::server {

struct asset {
  std::string_view path;           ///< "/" is the page itself
  std::string_view content_type;   ///< the value of Content-Type
  std::string_view etag;           ///< weak, since it stands for both encodings
  std::string_view cache_control;  ///< for ever, where a hash of the content is in the path
  std::string_view bytes;
  std::string_view gzip;  ///< the same compressed; empty where that would gain nothing
};

/// Every file of the page; none in a program that was built with EVERSEEN_BUILD_PAGE=OFF.
[[nodiscard]] std::span<const asset> assets() noexcept;

/// The file at a path (without query), or null.
[[nodiscard]] const asset* find_asset(std::string_view path) noexcept;

/// What a browser lets the page do: nothing but talk to the server that it came from.
inline constexpr std::string_view content_security_policy =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

}  // namespace everseen::server
