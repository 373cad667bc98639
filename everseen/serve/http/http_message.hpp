#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"

namespace everseen::serve {

struct user_account;

enum class http_method : std::uint8_t { get, head, post, del, other };

/// A request for the interface: the relevant parts of its head, and its body.
struct http_request {
  http_method method = http_method::other;
  std::string target{};  ///< path and query, as sent
  std::string host{};    ///< all headers: empty if not sent
  std::string origin{};
  std::string fetch_site{};  ///< Sec-Fetch-Site
  std::string content_type{};
  std::string authorization{};
  std::string none_match{};  ///< If-None-Match
  bool takes_gzip = false;   ///< Accept-Encoding
  std::string_view body{};
  std::string from{};                   ///< address of the client, for the log
  std::string network{};                ///< as client::network
  const user_account* known = nullptr;  ///< the user authenticated by an earlier request on this connection
  bool is_old = false;                  ///< HTTP/1.0, which need not name a host
  bool by_loopback = true;              ///< arrived at a TCP address that only this machine can reach

  [[nodiscard]] std::string_view path() const noexcept {
    return std::string_view(target).substr(0, target.find('?'));
  }
  /// The text after the question mark.
  [[nodiscard]] std::string_view query() const noexcept {
    const auto found = target.find('?');
    return found == std::string::npos ? std::string_view() : std::string_view(target).substr(found + 1);
  }
  /// Whether it may change something.
  [[nodiscard]] bool is_unsafe() const noexcept {
    return method != http_method::get && method != http_method::head;
  }
};

struct http_response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};  ///< in addition to those of every answer
};

/// As it is sent.    @param with_body  false: the answer to HEAD, with only the length
[[nodiscard]] std::string encoded(const http_response& r, bool with_body, bool keep_alive);

/// Why a request is refused. Thrown where the reason is found.
struct http_problem {
  unsigned status = 400;
  std::string reason{};  ///< one of those in openapi.json: stable, for programs
  std::string detail{};  ///< what was wrong and what to do
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// Refuses a request for a parameter: 400, bad_parameter.
[[noreturn]] void refuse_parameter(const std::string& why);

/// In the format of RFC 9457.
[[nodiscard]] http_response response_of(const http_problem& p);

/// The problem for the exception that is being handled.
/// @pre called in a catch block of something derived from std::exception, or of http_problem
[[nodiscard]] http_problem problem_of_current_exception();

/// Why no key of a batch got a verdict.
[[nodiscard]] http_problem problem_of(const batch_failure& failure);

}  // namespace everseen::serve
