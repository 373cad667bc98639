#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/spec/spec.hpp"

/// Options about a new filter, shared by the verbs that create one.
namespace everseen::cli {

struct create_options {
  std::optional<std::uint64_t> capacity, probes, slices, partitions, expansion;
  std::optional<double> error_rate;
  std::optional<layout_kind> layout, as;
  std::optional<hash_kind> hash;
  std::optional<growth_kind> growth;
  std::optional<judge_kind> judge;
  std::optional<funnel_kind> funnel;
  std::optional<std::chrono::milliseconds> window;
  friend bool operator==(const create_options&, const create_options&) = default;
};

/// Descriptions of the defaults.
struct create_defaults {
  std::string capacity = "1M";
  std::string error_rate = "1e-6";
  std::string growth = "grow";
  std::string window{};
  std::string hash = "xxh3, through everseen:// siphash";
  std::string funnel = "string";
  std::string expansion = "2";
};

void add_create_options(option_set& known, create_options& target, const create_defaults& defaults = {});

/// @param standard  values for options that were not given
/// @throws parameter_error  options that contradict each other
[[nodiscard]] spec_request request_of(const create_options& o, const spec_request& standard = {});

}  // namespace everseen::cli
