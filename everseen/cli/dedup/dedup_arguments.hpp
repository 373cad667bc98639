#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "everseen/cli/long_run/filter_options.hpp"
#include "everseen/cli/long_run/outage_watch.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verb.hpp"
#include "everseen/stream/dedup/dedup.hpp"

namespace everseen::cli {

/// The command line of dedup.
struct dedup_arguments : filter_options {
  std::vector<std::string> files;
  store_choice store;
  std::optional<std::string> filter_name;
  std::optional<std::uint64_t> key_field;
  std::optional<std::uint64_t> time_field;
  std::optional<char> delimiter;
  std::optional<std::string> key_json;
  std::optional<std::string> time_json;
  std::optional<dedup_options::fate> missing_key;
  std::optional<dedup_options::fate> late;
  std::optional<std::chrono::milliseconds> max_ahead;
  std::optional<outage_watch::policy> on_outage;
  std::optional<std::uint64_t> threads;
  std::optional<std::string> stats;  // "-" is standard error
  bool repeated = false;
  bool zero = false;
};

/// Declares all of them. `into` must outlive the parsing.
void declare_dedup_arguments(option_set& known, dedup_arguments& into);

/// The options of the pipeline that do not depend on the filter.
/// @throws parameter_error  options that exclude each other, or have no effect without another one
[[nodiscard]] dedup_options dedup_options_of(const dedup_arguments& given);

}  // namespace everseen::cli
