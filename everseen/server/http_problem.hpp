#pragma once

#include <string>
#include <utility>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/server/http_message.hpp"

namespace everseen::server {

/// Why a request is refused. Thrown by whoever finds out.
struct http_problem {
  unsigned status = 400;
  std::string reason{};  ///< one of those in openapi.json: stable, for programs
  std::string detail{};  ///< what was wrong and what to do
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// As RFC 9457 has it.
[[nodiscard]] http_response response_of(const http_problem& p);

/// What the exception that is being handled amounts to.
/// @pre called in a catch block of something derived from std::exception, or of http_problem
[[nodiscard]] http_problem problem_of_current_exception();

/// Why a batch got no verdict at all.
[[nodiscard]] http_problem problem_of(const batch_failure& failure);

}  // namespace everseen::server
