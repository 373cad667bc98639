#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace everseen::server {

struct user_account;

enum class http_method : std::uint8_t { get, head, post, del, other };

/// A request as the interface sees it: what matters of its head, and its body.
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
  const user_account* known = nullptr;  ///< as whom a request before it on this connection was let in
  bool is_old = false;                  ///< HTTP/1.0, which need not name a host
  bool by_loopback = true;              ///< came in on a TCP address that only this machine has

  [[nodiscard]] std::string_view path() const noexcept {
    return std::string_view(target).substr(0, target.find('?'));
  }
  /// What stands behind the question mark.
  [[nodiscard]] std::string_view query() const noexcept {
    const auto at = target.find('?');
    return at == std::string::npos ? std::string_view() : std::string_view(target).substr(at + 1);
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
  std::vector<std::pair<std::string, std::string>> headers{};  ///< beside those that every answer has
};

/// As it is sent.    @param with_body  no: the answer to HEAD, which tells the length alone
[[nodiscard]] std::string encoded(const http_response& r, bool with_body, bool keep_alive);

}  // namespace everseen::server
