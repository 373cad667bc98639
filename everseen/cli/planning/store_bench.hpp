#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace everseen::cli {

/// The cost of a key for one way to judge and one kind of keys.
struct key_cost {
  std::string judged;     ///< as in "redis, module"; for a store without servers, its URL
  std::string keys;       ///< which keys, as in "fresh"
  double error_rate = 0;  ///< of the filter
  double keys_a_second = 0;
  double own_us = 0;  ///< CPU of this process
  // Of all servers together; nothing if there are none.
  std::optional<double> server_us{};
  std::optional<double> in_bytes{};
  std::optional<double> out_bytes{};
};

/// A constant of report/fleet.
struct measured_constant {
  std::string name;
  double value = 0;
};

struct store_costs {
  std::optional<double> round_trip_us{};
  std::vector<key_cost> rows;
  std::vector<measured_constant> constants;
};

/// Measures the cost of a key in a store, with filters of its own. Each is named everseen-bench- and a
/// random word, expires an hour after its last use, and is dropped after its measurement, whatever happens.
/// All answers are checked.
///
/// The numbers include a server's work for other clients: measure on idle servers.
/// @param keys  added to each filter; on servers at most a hundred million
/// @throws format_error  an answer was wrong    @throws backend_error, storage_error, parameter_error
[[nodiscard]] store_costs measure_store(const std::string& url, std::uint64_t keys);

}  // namespace everseen::cli
