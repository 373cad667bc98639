#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/spec/spec.hpp"

/// The arithmetic behind `everseen plan --store redis --per-second`: who can judge a stream's keys, and with
/// how many servers. Pure. doc/scale.md computes an example by hand.
namespace everseen {

/// Costs and machines by name, as doc/scale.md lists them. `everseen bench --store` measures the costs:
/// microseconds of CPU, and bytes, a key at an error rate of 1e-6.
using fleet_constants = std::map<std::string, double, std::less<>>;
[[nodiscard]] const fleet_constants& usual_constants();

/// The usual values, overridden by a JSON text: an object with a member `constants`, an object of numbers.
/// @throws parameter_error  it has another form, an unknown name, or a value out of bounds
[[nodiscard]] fleet_constants read_constants(std::string_view json);

struct fleet_request {
  std::uint64_t keys = 0;                     ///< distinct keys that the filter must hold
  std::optional<double> error_rate{};         ///< default_error_rate
  std::optional<std::uint64_t> per_second{};  ///< events at peak; nothing: a plan for a filter, not a stream
  std::optional<double> fresh_share{};        ///< of the events; 1
  std::optional<std::uint64_t> clients{};     ///< that add keys; usual_clients, or as many as the events need
  std::optional<std::uint64_t> server_bytes{};  ///< memory that a server may use; 64 GiB
  std::optional<std::uint64_t> client_bytes{};  ///< memory that a client has for the filter; 16 GiB
  std::optional<judge_kind> judge{};            ///< nothing: either
  bool module = false;                          ///< servers may load the module
};
inline constexpr double usual_clients = 8;

/// The load on one machine.
struct fleet_load {
  double bytes = 0;
  double cores = 0;
  double in_bytes = 0;   ///< per second
  double out_bytes = 0;  ///< per second
};

/// A server is one redis-server: one core and some memory. Several may share a machine.
struct fleet_design {
  std::string_view name;  ///< embedded, client or module
  double servers = 0;     ///< embedded needs none; 0 for others: no number is enough
  std::uint32_t partitions = 0;
  std::uint64_t filter_bytes = 0;
  fleet_load server{};
  fleet_load client{};
  std::string_view decided_by{};  ///< the reason for the number of servers: memory, CPU or network
  std::string why_not{};          ///< empty: it may be picked
};

struct fleet_plan {
  double clients = 0;
  std::vector<fleet_design> designs;
  std::optional<std::size_t> picked{};  ///< fewest servers, then the least CPU; nothing: none is possible
};
/// @pre  per_second    @throws parameter_error  the numbers fit no filter
[[nodiscard]] fleet_plan plan_fleet(const fleet_request& request, const fleet_constants& constants);

}  // namespace everseen
