#include "everseen/serve/http/http_message.hpp"

#include <algorithm>
#include <string_view>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

#include "everseen/serve/http/asio_http_head.hpp"

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

namespace {

namespace http = boost::beast::http;

std::string_view plain(boost::beast::string_view text) noexcept {
  return {text.data(), text.size()};
}

http_method method_of(http::verb verb) noexcept {
  switch (verb) {
    case http::verb::get:
      return http_method::get;
    case http::verb::head:
      return http_method::head;
    case http::verb::post:
      return http_method::post;
    case http::verb::delete_:
      return http_method::del;
    default:
      return http_method::other;
  }
}

/// Whether gzip is among the codings of Accept-Encoding, with a weight above 0.
bool takes_gzip(std::string_view codings) {
  constexpr std::string_view gzip = "gzip";
  for (const auto& coding : http::ext_list({codings.data(), codings.size()})) {
    if (!boost::beast::iequals(coding.first, {gzip.data(), gzip.size()})) continue;
    return std::all_of(coding.second.begin(), coding.second.end(), [](const auto& parameter) {
      return parameter.second.find_first_not_of("0.") != boost::beast::string_view::npos;
    });
  }
  return false;
}

}  // namespace

http_request head_of(const parsed_head& parsed, const arrival& arrived) {
  const auto field = [&](http::field name) { return std::string(plain(parsed[name])); };
  http_request r;
  r.method = method_of(parsed.method());
  r.target = plain(parsed.target());
  r.host = field(http::field::host);
  r.origin = field(http::field::origin);
  r.fetch_site = plain(parsed["Sec-Fetch-Site"]);
  r.content_type = field(http::field::content_type);
  r.authorization = field(http::field::authorization);
  r.none_match = field(http::field::if_none_match);
  r.takes_gzip = takes_gzip(plain(parsed[http::field::accept_encoding]));
  r.is_old = parsed.version() < 11;
  r.by_loopback = arrived.by_loopback;
  return r;
}

void must_be_unambiguous(const parsed_head& parsed, bool chunked) {
  if (parsed.count(http::field::host) > 1)
    throw http_problem{400, "bad_request", "the request names more than one Host"};
  if (parsed.count(http::field::transfer_encoding) == 0) return;
  if (!chunked || parsed.version() < 11 || parsed.count(http::field::content_length) > 0)
    throw http_problem{400, "bad_request", "the only Transfer-Encoding is chunked, once, in HTTP/1.1"};
}

bool expects_continue(const parsed_head& parsed) {
  return boost::beast::iequals(parsed[http::field::expect], "100-continue");
}

http_problem problem_of(const boost::system::error_code& fault) {
  if (fault == http::error::body_limit)
    return {413, "too_large",
            "the request has more bytes than --max-request allows; send fewer keys at a time"};
  if (fault == http::error::header_limit)
    return {431, "header_too_large", "the head of the request has more than 16 KiB"};
  return {400, "bad_request", "this is not a valid HTTP request: " + fault.message()};
}

}  // namespace everseen::serve
