#pragma once

#include <span>
#include <string_view>

/// The web page at `/`: the files of web/, as embedded in the program.
///
/// Immutable and without state. Threads: any. Cost: one comparison for each of fewer than ten files.
namespace everseen::serve {

struct asset {
  std::string_view path;           ///< "/" is the page itself
  std::string_view content_type;   ///< the value of Content-Type
  std::string_view etag;           ///< weak, as it covers both encodings
  std::string_view cache_control;  ///< unlimited if the path contains a hash of the content
  std::string_view bytes;
  std::string_view gzip;  ///< the same, compressed; empty if that saves nothing
};

/// Every file of the page; none in a program that was built with EVERSEEN_BUILD_PAGE=OFF.
[[nodiscard]] std::span<const asset> assets() noexcept;

/// The file at a path (without query), or null.
[[nodiscard]] const asset* find_asset(std::string_view path) noexcept;

/// openapi.json, as embedded when the program was built.
[[nodiscard]] std::string_view openapi_document() noexcept;

/// Restricts the page to communication with its own server.
inline constexpr std::string_view content_security_policy =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

}  // namespace everseen::serve
