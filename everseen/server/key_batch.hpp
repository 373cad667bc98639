#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/core/verdict.hpp"

namespace everseen::server {

/// What is asked of a filter about keys.
enum class question : std::uint8_t {
  add,    ///< mark them, and say which were fresh
  check,  ///< say which were seen
};

/// Why keys of a batch have no verdict: one of the two, or neither.
struct batch_fault {
  std::optional<batch_failure> failure{};
  std::exception_ptr thrown{};  ///< an error: nothing is known of any key
};

/// Keys of one client on their way to their verdicts. The keys lie in the client's receive buffer.
struct key_batch {
  std::vector<std::string_view> keys{};
  std::vector<verdict> verdicts{};
  std::string fault{};    ///< the error reply for keys whose verdict is `unknown`, but see text_of_unknown
  bool is_stale = false;  ///< the filter must be opened anew before it is used again
  batch_fault why{};      ///< what `fault` tells, for programs
};

}  // namespace everseen::server
