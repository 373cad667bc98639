#include "everseen/report/fleet_designs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/admin/planning.hpp"
#include "everseen/report/served_design.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen {

namespace {

// At 1e-6, the rate of the costs in fleet_constants.
constexpr double usual_lines = 2;

/// Calls per second; each batch makes one call per partition that it has keys of.
/// @param keys  per batch that must reach servers
double calls_of(double batches, double keys, double partitions) {
  return batches * partitions * (1 - std::pow(1 - 1 / partitions, keys));
}

class client_design final : public served_design {
 public:
  using served_design::served_design;

 private:
  [[nodiscard]] judge_kind judge() const override { return judge_kind::client; }
  [[nodiscard]] fleet_load servers_load(const spec& s) const override {
    const fleet_constants& c = constants_;
    const auto bits = static_cast<double>(bytes_of(s));
    const double others = clients_ - 1, calls = calls_to_servers(s);
    return {.bytes = bits * (1 + c.copied_share) + bits,  // the journal is at most as long as the bits
            .cores = 1e-6 * (rates_.fresh * (c.client_fresh_us + others * c.client_another_us) +
                             rates_.repeats * c.client_repeat_us + calls * c.client_call_us),
            .in_bytes = rates_.fresh * (c.client_in_bytes + (others > 0 ? c.client_again_in_bytes : 0)) +
                        calls * c.client_call_bytes,
            .out_bytes = rates_.fresh * others * c.client_another_out_bytes};
  }

  [[nodiscard]] fleet_load client_load(const spec& s) const override {
    const fleet_constants& c = constants_;
    const fleet_load servers = servers_load(s);
    const double own = rates_.fresh * c.client_own_fresh_us + rates_.repeats * c.client_own_repeat_us;
    const double followed = rates_.fresh * (clients_ - 1) * c.client_own_follow_us;
    return {.bytes = static_cast<double>(bytes_of(s)),
            .cores = 1e-6 * (own + followed + calls_to_servers(s) * c.client_call_own_us) / clients_,
            .in_bytes = servers.out_bytes / clients_,
            .out_bytes = servers.in_bytes / clients_};
  }

  /// With several clients, each call is refused once and repeated.
  [[nodiscard]] double calls_to_servers(const spec& s) const {
    const double once = calls_of(batches(), constants_.batch_keys * request_.fresh_share, s.partitions);
    return clients_ > 1 ? 2 * once : once;
  }

  /// Records per second and partition. A batch has keys of all partitions, unless it has fewer fresh keys
  /// than there are partitions.
  [[nodiscard]] double records(double partitions) const {
    return std::min(batches(), rates_.fresh / partitions);
  }

  /// A client must know everything added to a partition before it adds: at most one record per round trip.
  [[nodiscard]] double journal_share(const spec& s) const override {
    return 1e-6 * records(s.partitions) * constants_.round_trip_us;
  }

  [[nodiscard]] std::string limit(const fleet_design& d) const override {
    if (d.client.bytes > static_cast<double>(request_.client_bytes))
      return fmt::format("each client would keep all {} of the filter, and has {}",
                         format_bytes(d.client.bytes),
                         format_bytes(static_cast<double>(request_.client_bytes)));
    return served_design::limit(d);
  }

  [[nodiscard]] std::string obstacle(const fleet_design& d) const override {
    if (d.journal_share > constants_.most_share)
      return fmt::format(
          "a partition's journal takes one record per round trip, and {} records a second would arrive",
          format_count(static_cast<std::uint64_t>(records(d.partitions))));
    return served_design::obstacle(d);
  }
};

class module_design final : public served_design {
 public:
  using served_design::served_design;

 private:
  [[nodiscard]] double calls_to_servers(const spec& s) const {
    return calls_of(batches(), constants_.batch_keys, s.partitions);
  }

  [[nodiscard]] fleet_load servers_load(const spec& s) const override {
    const fleet_constants& c = constants_;
    const double calls = calls_to_servers(s);
    const double more = (static_cast<double>(lines_per_key(s.layout)) - usual_lines) * c.module_unit_us;
    const double fresh_us = std::max(c.module_fresh_us + more, 0.0);
    const double repeat_us = std::max(c.module_repeat_us + more, 0.0);
    return {.bytes = static_cast<double>(bytes_of(s)) * (1 + c.copied_share),
            .cores = 1e-6 * (rates_.fresh * fresh_us + rates_.repeats * repeat_us + calls * c.module_call_us),
            .in_bytes = rates_.all * c.module_in_bytes + calls * c.module_call_bytes,
            .out_bytes = rates_.all * c.module_out_bytes};
  }

  [[nodiscard]] fleet_load client_load(const spec& s) const override {
    const fleet_constants& c = constants_;
    const fleet_load servers = servers_load(s);
    return {.bytes = 0,
            .cores =
                1e-6 * (rates_.all * c.module_own_us + calls_to_servers(s) * c.module_call_own_us) / clients_,
            .in_bytes = servers.out_bytes / clients_,
            .out_bytes = servers.in_bytes / clients_};
  }
};

fleet_design embedded(const fleet_request& r, const fleet_constants& c) {
  const spec s = make_spec(filter_of(r, judge_kind::server));
  const stream_rates rates = rates_of(r);
  fleet_design d{.name = "embedded", .filter_bytes = bytes_of(s), .partitions = s.partitions};
  d.client = {static_cast<double>(d.filter_bytes),
              1e-6 * (rates.fresh * c.embedded_fresh_us + rates.repeats * c.embedded_repeat_us), 0, 0};
  if (r.clients.value_or(1) > 1)
    d.why_not = "a filter in one process does not have the keys that other processes add";
  else if (d.client.bytes > static_cast<double>(r.client_bytes))
    d.why_not = fmt::format("the process would keep {}, and has {}", format_bytes(d.client.bytes),
                            format_bytes(static_cast<double>(r.client_bytes)));
  else if (d.client.cores > c.client_cores)
    d.why_not =
        fmt::format("the process would need {:.1f} cores, and has {:g}", d.client.cores, c.client_cores);
  else
    d.why_not = too_many_events(r, c, 1);
  return d;
}

}  // namespace

/// The number of clients that can read all events.
std::uint64_t clients_needed(const fleet_request& r, const fleet_constants& c) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(r.per_second) / c.client_events));
}

std::uint64_t clients_of(const fleet_request& r, const fleet_constants& c) {
  return r.clients.value_or(std::max(usual_clients, clients_needed(r, c)));
}

std::vector<fleet_design> designs_of(const fleet_request& request, const fleet_constants& constants) {
  return {embedded(request, constants), client_design(request, constants).plan("client"),
          module_design(request, constants).plan("module")};
}

}  // namespace everseen
