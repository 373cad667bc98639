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
#include "everseen/dedup/record/event_rule.hpp"
#include "everseen/jobs/event_batch.hpp"

namespace everseen::cli {

inline constexpr std::string_view default_job = "stream";

/// The command line of stream.
struct stream_arguments : filter_options {
  std::optional<std::string> from;
  std::optional<std::string> target;  // default: counts
  std::optional<std::string> job;
  std::optional<std::string> worker;  // default: the machine's name
  store_choice store;
  std::optional<std::string> filter_name;

  record_options records;
  std::vector<std::string> counts;
  std::optional<envelope_key> key_beside;

  std::optional<std::chrono::milliseconds> max_ahead;
  std::optional<std::string> bad_events;  // fail, skip, or a file
  std::optional<std::string> seen_to, late_to;
  std::optional<outage_watch::policy> on_outage;
  std::optional<std::string> metrics;
  std::optional<std::string> stats;  // "-" is standard error
  std::optional<std::uint64_t> block_bytes;
  std::optional<std::chrono::milliseconds> settle_every;
  bool follow = false;
  bool move_output = false;
  std::optional<std::string> config;  // read before all else: configuration.hpp
  bool check_config = false;
  bool dry_run = false;
  bool quiet = false;
};

/// Declares all of them. `into` must outlive the parsing.
void declare_stream_arguments(option_set& known, stream_arguments& into);

/// The shape of the events.
/// @param header  the first line of the input, if --header says that it names the fields
/// @throws parameter_error  options that exclude each other, or a field that the line does not name
[[nodiscard]] event_shape shape_of(const stream_arguments& given, const std::optional<std::string>& header);

/// The file for bad events, if they are kept.
[[nodiscard]] std::optional<std::string> file_of_bad_events(const stream_arguments& given);

/// Whether only counters are wanted.
[[nodiscard]] bool counts_only(const stream_arguments& given);

/// Whether fresh events go to a file or to standard output.
[[nodiscard]] bool is_of_lines(const stream_arguments& given);

/// @throws parameter_error  an option is missing, or would have no effect
void must_make_sense(const stream_arguments& given);

/// Parsing of the dimensions that a job counts by.

/// Dimensions separated by commas, each [NAME=][TIME:]FIELD, where TIME is minute, hour, day or a duration.
/// An empty text is the set without dimensions, the total.
/// @throws parameter_error  one is invalid, or two have the same name
[[nodiscard]] dimension_set parse_dimensions(std::string_view text, const field_words& words);

}  // namespace everseen::cli
