#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/verdict.hpp"

namespace everseen::server {

/// What is asked of a filter about keys.
enum class question : std::uint8_t {
  add,    ///< mark them, and say which were fresh
  check,  ///< say which were seen
};

/// Keys of one client on their way to their verdicts. The keys lie in the client's receive buffer.
struct key_batch {
  std::vector<std::string_view> keys{};
  std::vector<verdict> verdicts{};
  std::string fault{};    ///< the error reply for keys whose verdict is `unknown`, but see text_of_unknown
  bool is_stale = false;  ///< the filter must be opened anew before it is used again
};

}  // namespace everseen::server
