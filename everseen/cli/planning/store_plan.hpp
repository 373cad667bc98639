#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "everseen/cli/verb/verb.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen::cli {

/// The part of `everseen plan --store` about one filter: what the verbs would make there.
struct store_question {
  std::string store;  ///< redis, or a URL
  std::uint64_t keys = 0;
  double error_rate = 1e-6;
  std::optional<judge_kind> judge{};  ///< only filters that are judged by these
  bool module = false;                ///< only filters on servers that have the module
  std::optional<std::chrono::milliseconds> timeout{};
  bool json = false;
};

/// @throws parameter_error  the store is not known, or the numbers fit no filter    @throws  as store::plan
exit_code plan_on_store(const store_question& asked, printer& out);

}  // namespace everseen::cli
