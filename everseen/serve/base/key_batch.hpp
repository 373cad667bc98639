#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/verdict.hpp"

namespace everseen::serve {

/// What is asked of a filter about keys.
enum class question : std::uint8_t {
  add,    ///< add them, and return which were fresh
  check,  ///< return which were seen
};

/// Why keys of a batch have no verdict: one of the two, or neither.
struct batch_fault {
  std::optional<batch_failure> failure{};
  std::exception_ptr thrown{};  ///< an error: nothing is known of any key
};

/// Keys of one client that wait for their verdicts. The keys lie in the client's receive buffer.
struct key_batch {
  std::vector<std::string_view> keys{};
  std::vector<verdict> verdicts{};
  std::string fault{};    ///< the error reply for keys whose verdict is `unknown`; see also text_of_unknown
  bool is_stale = false;  ///< reopen the filter before it is used again
  batch_fault why{};      ///< the cause of `fault`, for programs
};

}  // namespace everseen::serve
