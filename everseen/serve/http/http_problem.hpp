#pragma once

#include <string>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/http/http_message.hpp"

namespace everseen::serve {

/// Why a request is refused. Thrown where the reason is found.
struct http_problem {
  unsigned status = 400;
  std::string reason{};  ///< one of those in openapi.json: stable, for programs
  std::string detail{};  ///< what was wrong and what to do
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// Refuses a request for a parameter: 400, bad_parameter.
[[noreturn]] void refuse_parameter(const std::string& why);

/// In the format of RFC 9457.
[[nodiscard]] http_response response_of(const http_problem& p);

/// The problem for the exception that is being handled.
/// @pre called in a catch block of something derived from std::exception, or of http_problem
[[nodiscard]] http_problem problem_of_current_exception();

/// Why no key of a batch got a verdict.
[[nodiscard]] http_problem problem_of(const batch_failure& failure);

}  // namespace everseen::serve
