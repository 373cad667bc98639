#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/long_run/filter_options.hpp"
#include "everseen/cli/long_run/outage_watch.hpp"
#include "everseen/cli/verb/record_options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/dedup/count_records.hpp"
#include "everseen/dedup/dedup.hpp"

namespace everseen::cli {

/// What a crash of dedup may do to lines whose keys are kept.
enum class crash_effect : std::uint8_t { repeat, lose };

/// The command line of dedup.
struct dedup_arguments : filter_options {
  std::vector<std::string> files;
  store_choice store;
  std::optional<std::string> filter_name;
  record_options records;
  std::optional<dedup_options::fate> missing_key;
  std::optional<dedup_options::fate> late;
  std::optional<std::chrono::milliseconds> max_ahead;
  std::optional<outage_watch::policy> on_outage;
  std::optional<crash_effect> on_crash;
  std::optional<std::uint64_t> threads;
  std::optional<std::string> stats;  // "-" is standard error
  std::optional<std::string> output;
  bool repeated = false;
  bool count = false;
  bool duplicates = false;
  bool unrepeated = false;
  std::optional<counted_records::occurrence> keep;
  std::optional<std::uint64_t> max_memory;
  bool quiet = false;
  bool verbose = false;
  bool judge_ahead = false;
};

/// Whether the lines themselves must be kept, without a filter; and then how. Its option, for messages.
[[nodiscard]] std::optional<std::string_view> counts_exactly(const dedup_arguments& given);
/// @pre counts_exactly()
[[nodiscard]] counted_records counted_of(const dedup_arguments& given);

/// Declares all of them. `into` must outlive the parsing.
void declare_dedup_arguments(option_set& known, dedup_arguments& into);

/// Refuses options that would have no effect: they are mistakes.    @throws parameter_error
void must_have_effect(const dedup_arguments& given);

/// The options of the pipeline that do not depend on the filter.
/// @param header  the first line of the input, if --header is given; nothing: the input is empty
/// @throws parameter_error  a field that the line does not name, or fields that do not go together
[[nodiscard]] dedup_options dedup_options_of(const dedup_arguments& given,
                                             const std::optional<std::string>& header);

}  // namespace everseen::cli
