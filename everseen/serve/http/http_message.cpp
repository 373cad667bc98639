#include "everseen/serve/http/http_message.hpp"

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

namespace everseen::serve {

std::string encoded(const http_response& r, bool with_body, bool keep_alive) {
  const auto phrase = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(r.status));
  // No cache may keep answers that change each second, no page of another site may embed them, and no browser
  // may guess types.
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nServer: everseen\r\nX-Content-Type-Options: nosniff\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\nConnection: {}\r\n",
      r.status, std::string_view(phrase.data(), phrase.size()), keep_alive ? "keep-alive" : "close");
  bool says_how_long = false;
  for (const auto& [name, value] : r.headers) {
    text += fmt::format("{}: {}\r\n", name, value);
    says_how_long = says_how_long || name == "Cache-Control";
  }
  if (!says_how_long) text += "Cache-Control: no-store\r\n";
  if (r.status != 204 && r.status != 304)
    text += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", r.content_type, r.body.size());
  text += "\r\n";
  if (with_body && r.status != 204 && r.status != 304) text += r.body;
  return text;
}

}  // namespace everseen::serve
