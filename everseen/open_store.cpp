#include "everseen/open_store.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "everseen/client/client_store.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/foreign/attached/attaching.hpp"
#include "everseen/redis/redis_store.hpp"
#include "everseen/store/local_store.hpp"

namespace everseen {

namespace {

/// @pre its scheme is one of these
redis::redis_url parse(std::string_view url) {
  return redis::is_everseen_url(url) ? redis::parse_everseen_url(url) : redis::parse_redis_url(url);
}

}  // namespace

std::shared_ptr<store> open_store(std::string_view url, std::optional<std::chrono::milliseconds> timeout) {
  if (is_local(url)) return open_local_store(url);
  if (redis::is_redis_url(url))
    return std::make_shared<redis::redis_store>(redis::answered_within(parse(url), timeout),
                                                foreign::open_attached);
  if (redis::is_everseen_url(url))
    return std::make_shared<client::client_store>(redis::answered_within(parse(url), timeout));
  // The rest of the URL may contain a password.
  throw parameter_error(
      "'" + std::string(url.substr(0, url.find(':'))) +
      "' is not a store; use mem:, file:DIRECTORY, redis://HOST:PORT or everseen://HOST:PORT");
}

std::string url_without_password(std::string_view url) {
  if (is_local(url)) return std::string(url);
  if (!redis::is_redis_url(url) && !redis::is_everseen_url(url)) return "***";
  try {
    const redis::redis_url parsed = parse(url);
    const std::string written = redis::to_string(parsed);
    if (parsed.user.empty() && parsed.password.empty()) return written;
    return written + (written.find('?') == std::string::npos ? '?' : '&') + "password=***";
  } catch (const parameter_error&) {
    return "***";
  }
}

}  // namespace everseen
