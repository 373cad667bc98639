#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/report/fleet.hpp"
#include "everseen/report/fleet_designs.hpp"

namespace everseen {

/// Events per second, over all clients.
struct stream_rates {
  double all = 0;
  double fresh = 0;
  double repeats = 0;
};

[[nodiscard]] stream_rates rates_of(const fleet_request& request);
[[nodiscard]] spec_request filter_of(const fleet_request& request, judge_kind judge);
/// Of the first layer, over all partitions.
[[nodiscard]] std::uint64_t bytes_of(const spec& s);

/// Why this number of clients cannot read all events; empty: it can.
[[nodiscard]] std::string too_many_events(const fleet_request& request, const fleet_constants& constants,
                                          std::uint64_t clients);

/// A design with servers.
class served_design {
 public:
  served_design(const fleet_request& request, const fleet_constants& constants)
      : request_(request),
        constants_(constants),
        rates_(rates_of(request)),
        clients_(static_cast<double>(clients_of(request, constants))) {}
  virtual ~served_design() = default;

  /// The smallest number of servers that bears the load, and what each then does.
  [[nodiscard]] fleet_design plan(std::string_view name) const;

 protected:
  /// The total load on all servers.
  [[nodiscard]] virtual fleet_load servers_load(const spec& s) const = 0;
  [[nodiscard]] virtual fleet_load client_load(const spec& s) const = 0;
  /// Why this is impossible with any servers and partitions; empty: it is possible.
  [[nodiscard]] virtual std::string limit(const fleet_design& d) const;
  /// Why this is impossible with these partitions although the servers suffice; empty: it is possible.
  [[nodiscard]] virtual std::string obstacle(const fleet_design& d) const;
  [[nodiscard]] virtual double journal_share(const spec& /*s*/) const { return 0; }
  [[nodiscard]] virtual judge_kind judge() const { return judge_kind::server; }
  [[nodiscard]] double batches() const { return rates_.all / constants_.batch_keys; }

  [[nodiscard]] double network_bytes() const {
    return constants_.network_gbit * 1e9 / 8 * constants_.most_share;
  }

  const fleet_request& request_;
  const fleet_constants& constants_;
  const stream_rates rates_;
  const double clients_;

 private:
  struct planned {
    everseen::spec spec;
    bool partitions_must_be_given = false;
  };

  /// The choice of `create`, if it fits Redis strings; and an equal number of partitions per server. The
  /// latter uses as few partitions as leave room for growth, which reduces the calls per batch.
  [[nodiscard]] std::vector<planned> filters_on(std::uint64_t servers) const;

  /// A load as shares of one server's memory, core and network.
  struct shares {
    double memory, cpu, network;
    [[nodiscard]] double most() const { return std::max({memory, cpu, network}); }
  };
  [[nodiscard]] shares shares_of(const fleet_load& load) const;

  /// @return the next number of servers to try; `servers`: this number is enough
  std::uint64_t fill(fleet_design& d, const planned& p, std::uint64_t servers) const;
};

}  // namespace everseen
