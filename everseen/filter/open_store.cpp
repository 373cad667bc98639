#include "everseen/filter/open_store.hpp"

#include <memory>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/redis_store.hpp"
#include "everseen/store/local_store.hpp"

namespace everseen {

namespace {

bool is_redis(std::string_view url) {
  return url.starts_with("redis:") || url.starts_with("rediss:") || url.starts_with("redis+cluster:") ||
         url.starts_with("rediss+cluster:") || url.starts_with("unix:");
}

}  // namespace

std::shared_ptr<store> open_store(std::string_view url) {
  if (is_local(url)) return open_local_store(url);
  if (is_redis(url)) return std::make_shared<redis::redis_store>(redis::parse_redis_url(url));
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
