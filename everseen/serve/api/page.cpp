#include "everseen/serve/api/page.hpp"

#include <algorithm>

namespace everseen::serve {

const asset* find_asset(std::string_view path) noexcept {
  const std::span<const asset> all = assets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const asset& a) { return a.path == path; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace everseen::serve
