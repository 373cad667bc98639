/// The comparison behind `everseen plan`: the cost of a set of keys in each structure. Pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/layout/layout.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen {

/// Two of keys, error rate and memory; the third is computed. All three: the probes of the classic layout
/// are.
struct plan_request {
  std::optional<std::uint64_t> keys;
  std::optional<double> error_rate;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> values;  ///< number of possible keys, if keys are numbers
  std::optional<layout_kind> layout{};  ///< overrides the choice
  std::optional<unsigned> probes{};     ///< of the classic layout; default: least memory
};

/// A request for keys or memory alone is one for default_error_rate, as `everseen create` takes it.
[[nodiscard]] plan_request with_default_rate(plan_request asked);

struct plan_row {
  std::string structure;
  std::optional<layout_kind> layout;  ///< nothing: not a Bloom filter
  std::uint64_t bytes = 0;
  std::uint64_t keys = 0;
  unsigned probes = 0;
  unsigned lines = 0;  ///< 64-byte cache lines per look-up
  double error_rate = 0;
  geometry shape{};  ///< of a Bloom filter

  [[nodiscard]] double bits_per_key() const noexcept {
    return 8 * static_cast<double>(bytes) / static_cast<double>(keys);
  }
};

struct plan_result {
  std::vector<plan_row> rows;
  std::size_t picked = 0;  ///< index of a row
  std::string reason;      ///< one sentence
  /// Bytes that `everseen create` allocates for the same request, which by default can grow.
  std::optional<std::uint64_t> bytes_when_growing;
};

/// @throws parameter_error  fewer than two of keys, error rate and memory; all three with probes or another
/// layout than
///                          classic; or the numbers fit no filter
[[nodiscard]] plan_result make_plan(const plan_request& request);

/// The rate of a Bloom filter while it fills past its capacity.
struct curve_point {
  std::uint64_t keys = 0;
  double error_rate = 0;
};
/// From zero to twice the keys of the row.    @pre row.layout
[[nodiscard]] std::vector<curve_point> curve_of(const plan_row& row);

/// The command line that creates the filter that was picked.
[[nodiscard]] std::string command_of(const plan_request& request, const plan_result& plan);

/// The filters that the verbs make on a store, for `everseen plan --store`. They have the store's defaults.

struct made_filter {
  std::string made_by;  ///< the verb, and where it makes this filter, as in "create, where all servers have
                        ///< the module"
  spec properties;

  /// Of the first layer, over all partitions.
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] double bits_per_key() const;
};

/// On any Redis with one server. Asks none.
/// @param module  all servers have the module; false: unknown, so both judges are shown
/// @throws parameter_error  the numbers fit no filter
[[nodiscard]] std::vector<made_filter> filters_made_on_redis(const spec_request& request, bool module);

/// On this store. Servers are asked whether they have the module.    @throws  as store::plan
[[nodiscard]] std::vector<made_filter> filters_made_on(const store& place, const spec_request& request);

}  // namespace everseen
