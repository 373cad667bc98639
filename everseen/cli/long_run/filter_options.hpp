#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "everseen/cli/terminal/progress.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::cli {

/// Options for a filter that is created if it does not exist.
struct filter_options {
  std::optional<double> error_rate;
  std::optional<std::uint64_t> capacity;
  std::optional<hash_kind> hash;
  std::optional<judge_kind> judge;
  std::optional<std::chrono::milliseconds> window;
  std::optional<std::uint64_t> slices;
  bool existing = false;  ///< do not create one
};

/// What the help says where verbs differ.
struct filter_option_texts {
  std::string error_rate;
  std::string capacity;
  std::string usual_capacity;
  std::string usual_hash;
};
/// Declares --error-rate, --capacity, --hash and --judge.    @param target  must outlive the parsing
void add_filter_options(option_set& known, filter_options& target, const filter_option_texts& texts);
/// Declares --window and --slices.    @param target  must outlive the parsing
void add_window_options(option_set& known, filter_options& target);

/// The filter that these options ask for.
[[nodiscard]] spec_request request_of(const filter_options& given);

/// Checks the options against the existing filter.    @throws parameter_error  it was created with other
/// options
void must_agree(const filter_options& given, const store& in, const filter& f);

/// Opens a filter that must exist, because a restarted process was using it. If a lost filter were created
/// again, every key would be fresh once more.
/// @throws format_error  it does not exist    @throws as store::open
[[nodiscard]] filter existing_filter(store& in, const std::string& name);
/// The error of a process that must not start over.    @param subject  is missing, as in "the filter
/// 'clicks'"
[[nodiscard]] format_error is_gone(const std::string& subject);

/// Loads the bits of a filter whose keys this process judges, one partition after the other, and shows the
/// progress. Otherwise the first lines would wait for the bits without any message.
///
/// Does nothing for small filters and for those whose bits stay elsewhere. Does not throw: what fails here
/// fails again with the first batch, where the policy for outages applies.
void load_with_progress(const filter& f, progress_line& line) noexcept;

}  // namespace everseen::cli
