#include "everseen/open_store.hpp"

#include <memory>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/store/local_store.hpp"

namespace everseen {

/// No store of this machine waits for a server.
std::shared_ptr<store> open_store(std::string_view url,
                                  std::optional<std::chrono::milliseconds> /*timeout*/) {
  if (is_local(url)) return open_local_store(url);
  // The rest of the URL may contain a password.
  throw parameter_error("'" + std::string(url.substr(0, url.find(':'))) +
                        "' is not a store of everseen::embedded; use mem: or file:DIRECTORY, or link "
                        "everseen::everseen for stores on servers");
}

std::string url_without_password(std::string_view url) {
  return is_local(url) ? std::string(url) : "***";
}

}  // namespace everseen
