#include "everseen/serve/http/http_message.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <string_view>

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/registry/filter_registry.hpp"
#include "everseen/text/json.hpp"

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

std::string_view title_of(unsigned status) noexcept {
  switch (status) {
    case 401:
      return "Authentication required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not found";
    case 405:
      return "Method not allowed";
    case 408:
      return "Request timeout";
    case 409:
      return "Conflict";
    case 413:
    case 431:
      return "Too large";
    case 415:
      return "Unsupported media type";
    case 421:
      return "Wrong host";
    case 500:
      return "Server error";
    case 429:
      return "Too many attempts";
    case 503:
      return "Unavailable";
    case 507:
      return "No space";
    default:
      return "Invalid request";
  }
}

}  // namespace

void refuse_parameter(const std::string& why) {
  throw http_problem{400, "bad_parameter", why};
}

http_response response_of(const http_problem& p) {
  http_response r;
  r.status = p.status;
  r.content_type = "application/problem+json";
  r.headers = p.headers;
  const nlohmann::ordered_json json = {{"type", "/docs#" + p.reason},
                                       {"title", title_of(p.status)},
                                       {"status", p.status},
                                       {"detail", p.detail},
                                       {"reason", p.reason}};
  // The quoted input need not be UTF-8.
  r.body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  return r;
}

http_problem problem_of(const batch_failure& failure) {
  switch (failure.why) {
    case batch_failure::cause::full:
      if (failure.code == ENOMEM) return {507, "no_room", failure.message};
      return {409, "full", failure.message};
    case batch_failure::cause::key:
      return {422, "key_refused", failure.message};
    case batch_failure::cause::format:
      return {500, "damaged", failure.message};
    case batch_failure::cause::storage:
    case batch_failure::cause::backend:
      break;
  }
  return {503, "outage", failure.message, {{"Retry-After", "1"}}};
}

http_problem problem_of_current_exception() {
  // The special before the general: three of these are kinds of parameter_error. What is left of everseen's
  // own errors is a store that failed.
  try {
    throw;
  } catch (const http_problem& p) {
    return p;
  } catch (const name_taken& e) {
    return {409, "name_taken", e.what()};
  } catch (const no_filter& e) {
    return {404, "no_filter", e.what()};
  } catch (const no_room& e) {
    return {507, "no_room", e.what()};
  } catch (const parameter_error& e) {
    return {400, "bad_parameter", e.what()};
  } catch (const format_error& e) {
    return {500, "damaged", e.what()};
  } catch (const full_error& e) {
    if (e.code() == ENOMEM) return {507, "no_room", e.what()};
    return {409, "full", e.what()};
  } catch (const error& e) {
    return {503, "outage", e.what(), {{"Retry-After", "1"}}};
  } catch (const std::bad_alloc&) {
    return {507, "no_room", "the server is out of memory"};
  } catch (const std::exception& e) {
    return {500, "bug", std::string("this is a bug: ") + e.what()};
  }
}

}  // namespace everseen::serve
