#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace everseen::cli {

/// What a key cost, of one way to judge and one kind of keys.
struct key_cost {
  std::string judged;     ///< as in "redis, script"; by a store without servers, its URL
  std::string keys;       ///< which keys, as in "fresh"
  double error_rate = 0;  ///< of the filter
  double keys_a_second = 0;
  double own_us = 0;  ///< CPU of this process
  // Of all servers together; nothing where there are none.
  std::optional<double> server_us{};
  std::optional<double> in_bytes{};
  std::optional<double> out_bytes{};
};

/// A value for report/fleet_constants.
struct measured_constant {
  std::string name;
  double value = 0;
};

struct store_costs {
  std::optional<double> round_trip_us{};
  std::vector<key_cost> rows;
  std::vector<measured_constant> constants;
};

/// Measures what a key costs in a store, by filters of its own: each is called everseen-bench- and a random
/// word, ends an hour after its last use, and is dropped when it has been measured, whatever happens. All
/// answers are checked.
///
/// What a server does for others meanwhile is counted, too: measure where nothing else happens.
/// @param keys  that are added to each filter; on servers at most a hundred million
/// @throws format_error  an answer was wrong    @throws backend_error, storage_error, parameter_error
[[nodiscard]] store_costs measure_store(const std::string& url, std::uint64_t keys);

}  // namespace everseen::cli
