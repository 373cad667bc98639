#pragma once

#include <functional>
#include <string>

#include "everseen/core/base/error.hpp"

namespace everseen::test {

/// The message of the Error that the call throws, or a sentence that no test expects.
template <typename Error>
std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const error& e) {
    return dynamic_cast<const Error*>(&e) != nullptr ? e.what()
                                                     : std::string("another kind of error: ") + e.what();
  }
  return "nothing was thrown";
}

}  // namespace everseen::test
