#include "everseen/serve/api/page.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "everseen/serve/http/http_routes.hpp"

namespace everseen::serve {

const asset* find_asset(std::string_view path) noexcept {
  const std::span<const asset> all = assets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const asset& a) { return a.path == path; });
  return found == all.end() ? nullptr : &*found;
}

namespace {

/// Whether the client has this version of the file. The header may list several versions, as from a cache in
/// between; * matches any.
bool is_known(std::string_view none_match, std::string_view etag) noexcept {
  return none_match == "*" || none_match.find(etag) != std::string_view::npos;
}

http_response serve_file(http_call& c) {
  const asset& file = *find_asset(c.from.path());
  http_response r;
  r.headers = {{"Cache-Control", std::string(file.cache_control)},
               {"ETag", std::string(file.etag)},
               {"Vary", "Accept-Encoding"},
               {"Content-Security-Policy", std::string(content_security_policy)},
               {"Referrer-Policy", "no-referrer"}};
  if (is_known(c.from.none_match, file.etag)) {
    r.status = 304;
    return r;
  }
  r.content_type = file.content_type;
  const bool zipped = c.from.takes_gzip && !file.gzip.empty();
  if (zipped) r.headers.emplace_back("Content-Encoding", "gzip");
  r.body = zipped ? file.gzip : file.bytes;
  return r;
}

}  // namespace

std::span<const http_route> page_routes() {
  // If the server wants a password, the page itself asks for it.
  static const std::vector<http_route> routes = [] {
    std::vector<http_route> all;
    for (const asset& file : assets())
      all.push_back({http_method::get, file.path, right::nothing, runs::at_once, serve_file, "http|page"});
    return all;
  }();
  return routes;
}

}  // namespace everseen::serve
