#include "everseen/filter/open_store.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/redis_store.hpp"
#include "everseen/store/local_store.hpp"

namespace everseen {

namespace {

bool is_redis(std::string_view url) {
  return url.starts_with("redis:") || url.starts_with("rediss:") || url.starts_with("redis+cluster:") ||
         url.starts_with("rediss+cluster:") || url.starts_with("unix:");
}

/// No single attempt takes longer than all together.
std::shared_ptr<store> open_redis_store(std::string_view written,
                                        std::optional<std::chrono::milliseconds> timeout) {
  redis::redis_url url = redis::parse_redis_url(written);
  if (timeout) {
    url.retry_for = *timeout;
    url.timeout = std::min(url.timeout, *timeout);
    url.connect_timeout = std::min(url.connect_timeout, *timeout);
  }
  return std::make_shared<redis::redis_store>(std::move(url));
}

}  // namespace

std::shared_ptr<store> open_store(std::string_view url, std::optional<std::chrono::milliseconds> timeout) {
  if (is_local(url)) return open_local_store(url);
  if (is_redis(url)) return open_redis_store(url, timeout);
  // The rest of the URL may contain a password.
  throw parameter_error("'" + std::string(url.substr(0, url.find(':'))) +
                        "' is not a store; use mem:, file:DIRECTORY or redis://HOST:PORT");
}

std::string url_without_password(std::string_view url) {
  if (is_local(url)) return std::string(url);
  if (!is_redis(url)) return "***";
  try {
    const redis::redis_url parsed = redis::parse_redis_url(url);
    const std::string written = redis::to_string(parsed);
    if (parsed.user.empty() && parsed.password.empty()) return written;
    return written + (written.find('?') == std::string::npos ? '?' : '&') + "password=***";
  } catch (const parameter_error&) {
    return "***";
  }
}

}  // namespace everseen
