#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/spec/spec.hpp"
#include "everseen/report/fleet_constants.hpp"

/// The arithmetic behind `everseen plan --store redis`: which design can sustain a stream, and with how many
/// servers. Pure.
namespace everseen {

struct fleet_request {
  std::uint64_t keys = 0;        ///< distinct keys that the filter must hold
  std::uint64_t per_second = 0;  ///< events, at peak
  double error_rate = 1e-6;
  double fresh_share = 1;  ///< of the events; 1 is the worst case
  /// Processes that add keys; nothing: usual_clients, or more if the events need more.
  std::optional<std::uint64_t> clients{};
  std::uint64_t server_bytes = std::uint64_t{64} << 30;  ///< memory that one server may use
  std::uint64_t client_bytes = std::uint64_t{16} << 30;  ///< memory that one client may use for the filter
  std::optional<judge_kind> judge{};                     ///< restricts the designs
  bool module = false;                                   ///< servers may load the module
};

inline constexpr std::uint64_t usual_clients = 8;

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
  std::uint64_t filter_bytes = 0;
  std::uint32_t partitions = 0;
  /// create would choose another number, or one that does not fit.
  bool partitions_must_be_given = false;
  bool is_sized = true;  ///< false: no number of servers is enough, and the rest is unset
  std::uint64_t servers = 0;
  /// The reason for the number of servers: memory, CPU, network or the number of partitions.
  std::string_view decided_by{};
  fleet_load server{};            ///< the busiest
  fleet_load client{};            ///< each
  double journal_share = 0;       ///< judged by clients: share of time that a partition's order is busy
  std::string why_not{};          ///< empty: possible
  std::string why_not_allowed{};  ///< empty: may be picked

  [[nodiscard]] bool is_possible() const noexcept { return why_not.empty(); }
};

struct fleet_plan {
  std::uint64_t clients = 0;
  std::vector<fleet_design> designs;
  std::optional<std::size_t> picked{};  ///< index of a design; nothing: none is possible and allowed
  std::string reason;                   ///< one sentence
  std::string command{};                ///< creates the filter, if a design was picked
  std::uint64_t mirror_bytes = 0;       ///< required mirror= in the clients' URL, if they judge
};

/// @throws parameter_error  the numbers fit no filter
[[nodiscard]] fleet_plan plan_fleet(const fleet_request& request, const fleet_constants& constants = {});

}  // namespace everseen
