#include "everseen/store/local_store.hpp"

#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/store/file/file_store.hpp"
#include "everseen/store/memory/memory_store.hpp"

namespace everseen {

namespace {

sync_policy parse_sync(std::string_view value) {
  if (value == "always") return sync_policy::always;
  if (value == "interval") return sync_policy::interval;
  if (value == "never") return sync_policy::never;
  throw parameter_error("sync=" + std::string(value) + " is not an option; use always, interval or never");
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

}  // namespace

bool is_local(std::string_view url) noexcept {
  return url == "mem:" || url.starts_with("file:");
}

std::shared_ptr<store> open_local_store(std::string_view url) {
  if (url == "mem:") return std::make_shared<memory_store>();
  return open_file_store(url.substr(std::string_view("file:").size()));
}

}  // namespace everseen
