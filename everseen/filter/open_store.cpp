#include "everseen/filter/open_store.hpp"

#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/redis_store.hpp"
#include "everseen/store/file/file_store.hpp"
#include "everseen/store/memory/memory_store.hpp"

namespace everseen {

namespace {

sync_policy parse_sync(std::string_view value) {
  if (value == "always") return sync_policy::always;
  if (value == "interval") return sync_policy::interval;
  if (value == "never") return sync_policy::never;
  throw parameter_error("sync=" + std::string(value) + " is not known; use always, interval or never");
}

std::shared_ptr<store> open_file_store(std::string_view rest) {
  const std::size_t question = rest.find('?');
  const std::string_view path = rest.substr(0, question);
  sync_policy policy = sync_policy::interval;
  if (question != std::string_view::npos) {
    const std::string_view option = rest.substr(question + 1);
    if (!option.starts_with("sync="))
      throw parameter_error("'" + std::string(option) +
                            "' is not an option of a file: store; there is sync=");
    policy = parse_sync(option.substr(5));
  }
  if (path.empty()) throw parameter_error("file: needs a directory, as in file:/var/lib/everseen");
  return std::make_shared<file_store>(path, policy);
}

bool is_redis(std::string_view url) {
  return url.starts_with("redis:") || url.starts_with("rediss:") || url.starts_with("redis+cluster:") ||
         url.starts_with("rediss+cluster:") || url.starts_with("unix:");
}

}  // namespace

std::shared_ptr<store> open_store(std::string_view url) {
  if (url == "mem:") return std::make_shared<memory_store>();
  if (url.starts_with("file:")) return open_file_store(url.substr(5));
  if (is_redis(url)) return std::make_shared<redis::redis_store>(redis::parse_redis_url(url));
  // The rest of the URL may contain a password.
  throw parameter_error("'" + std::string(url.substr(0, url.find(':'))) +
                        "' is not a store; use mem:, file:DIRECTORY or redis://HOST:PORT");
}

std::string url_without_password(std::string_view url) {
  if (url == "mem:" || url.starts_with("file:")) return std::string(url);
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
