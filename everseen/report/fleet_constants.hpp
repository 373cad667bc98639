#pragma once

#include <span>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace everseen {

/// The cost of a key in each design, and the assumed machines: all inputs of plan_fleet() besides the
/// request.
///
/// The values were measured on the machine of doc/measurements.md or are assumed; all_fleet_constants() gives
/// the source and meaning of each. `everseen bench --store URL` measures them on other servers. Costs are
/// microseconds of CPU per key, at an error rate of 1e-6.
struct fleet_constants {
  // One process with its own filter.
  double embedded_fresh_us = 0.037;
  double embedded_repeat_us = 0.026;

  // Judged by clients: the server orders the keys, each client has all bits.
  double client_fresh_us = 0.05;
  double client_repeat_us = 0.0001;
  double client_another_us = 0.035;
  double client_own_fresh_us = 0.15;
  double client_own_repeat_us = 0.028;
  double client_own_follow_us = 0.038;
  double client_in_bytes = 26.4;
  double client_again_in_bytes = 13.6;
  double client_another_out_bytes = 33;
  double client_call_us = 7.2;
  double client_call_own_us = 2.9;
  double client_call_bytes = 372;

  // Judged by servers, which have the module.
  double module_fresh_us = 0.051;
  double module_repeat_us = 0.065;
  double module_unit_us = 0.03;
  double module_own_us = 0.03;
  double module_in_bytes = 17.5;
  double module_out_bytes = 1;
  double module_call_us = 5;
  double module_call_own_us = 2.8;
  double module_call_bytes = 290;

  // Machines.
  double round_trip_us = 250;
  double batch_keys = 50'000;
  double network_gbit = 10;
  double most_share = 0.6;
  double client_events = 2'000'000;
  double client_cores = 8;
  double copied_share = 0.8;
};

struct fleet_constant {
  std::string_view name;
  double fleet_constants::*value;
  std::string_view meaning;
  std::string_view source;  ///< of the default value
  double least = 0;
  double most = 1e9;
};

[[nodiscard]] std::span<const fleet_constant> all_fleet_constants() noexcept;

/// An object with one member per constant: its value, meaning and source.
[[nodiscard]] nlohmann::ordered_json json_of(const fleet_constants& constants);

/// The default values, overridden by a JSON text: an object with a member `constants`. Its members are
/// numbers, as `everseen bench --store` prints them, or objects with a `value`, as `everseen plan` prints
/// them.
/// @throws parameter_error  it has another form, names an unknown constant, or has a value out of bounds
[[nodiscard]] fleet_constants read_fleet_constants(std::string_view json);

}  // namespace everseen
