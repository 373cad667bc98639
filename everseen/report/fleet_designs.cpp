#include "everseen/report/fleet_designs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/admin/planning.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen {

namespace {

/// More servers than anyone uses for one filter.
constexpr std::uint64_t most_servers = 4096;
/// When the segment is full, one layer of twice the keys still fits a Redis string.
constexpr std::uint64_t good_segment_bytes = std::uint64_t{192} << 20;
// At 1e-6, the rate of the costs in fleet_constants.
constexpr double usual_probes = 7;
constexpr double usual_lines = 2;

/// Events per second, over all clients.
struct stream_rates {
  double all = 0;
  double fresh = 0;
  double repeats = 0;
};

stream_rates rates_of(const fleet_request& r) {
  const auto all = static_cast<double>(r.per_second);
  return {all, all * r.fresh_share, all * (1 - r.fresh_share)};
}

redis::redis_url url_of(std::uint64_t servers) {
  redis::redis_url url;
  url.shape = servers > 1 ? redis::redis_url::topology::many : redis::redis_url::topology::one;
  url.endpoints.resize(servers);
  return url;
}

spec_request filter_of(const fleet_request& r, judge_kind judge) {
  return {.capacity = r.keys, .error_rate = r.error_rate, .judge = judge};
}

/// Calls per second; each batch makes one call per partition that it has keys of.
/// @param keys  per batch that must reach servers
double calls_of(double batches, double keys, double partitions) {
  return batches * partitions * (1 - std::pow(1 - 1 / partitions, keys));
}

/// The number of clients that can read all events.
std::uint64_t clients_needed(const fleet_request& r, const fleet_constants& c) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(r.per_second) / c.client_events));
}

std::uint64_t bytes_of(const spec& s) {
  return growth::plan_layer(s, 0).shape.bytes * s.partitions;
}

/// A design with servers.
class served_design {
 public:
  served_design(const fleet_request& request, const fleet_constants& constants)
      : request_(request),
        constants_(constants),
        rates_(rates_of(request)),
        clients_(static_cast<double>(clients_of(request, constants))) {}
  virtual ~served_design() = default;

  [[nodiscard]] fleet_design plan(std::string_view name) const {
    fleet_design none{.name = name, .is_sized = false};
    none.why_not = fmt::format("it would need more than {} servers", format_count(most_servers));
    std::optional<fleet_design> hindered;  // the first; another number of partitions may be possible
    for (std::uint64_t servers = 1; servers <= most_servers;) {
      std::uint64_t next = most_servers + 1;
      const std::vector<planned> filters = filters_on(servers);
      if (filters.empty()) {
        none.why_not = fmt::format(
            "a filter has at most {} partitions, and each would be longer than the 512 MiB of a "
            "Redis string",
            format_count(max_partitions));
        break;
      }
      for (const planned& p : filters) {
        fleet_design d{.name = name};
        const std::uint64_t wanted = fill(d, p, servers);
        if (wanted > servers) {
          next = std::min(next, wanted);
          continue;
        }
        d.why_not = limit(d);
        if (!d.is_possible()) return hindered.value_or(d);
        d.why_not = obstacle(d);
        if (hindered && servers > hindered->servers) d.decided_by = "the number of partitions";
        if (d.is_possible()) return d;
        if (!hindered) hindered = d;
        // Testing every number would take long, and partitions spread evenly only to within a sixteenth
        // anyway.
        next = std::min(next, servers + 1 + servers / 16);
      }
      servers = next;
    }
    return hindered.value_or(none);
  }

 protected:
  /// The filter that `create` would make on these servers.
  [[nodiscard]] virtual spec filter_on(const redis::redis_url& servers,
                                       const spec_request& request) const = 0;
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
  [[nodiscard]] std::vector<planned> filters_on(std::uint64_t servers) const {
    std::vector<planned> all;
    const redis::redis_url url = url_of(servers);
    spec_request request = filter_of(request_, judge());
    try {
      all.push_back({filter_on(url, request)});
    } catch (const parameter_error&) {  // the second choice has more partitions
    }
    request.partitions = 1;
    const std::uint64_t bytes = bytes_of(all.empty() ? make_spec(request) : all[0].spec);
    const std::uint64_t each = bytes / (servers * good_segment_bytes) + 1;
    request.partitions = static_cast<std::uint32_t>(std::min<std::uint64_t>(servers * each, max_partitions));
    try {
      all.push_back({filter_on(url, request), true});
    } catch (const parameter_error&) {  // the limit of partitions is reached
    }
    return all;
  }

  /// A load as shares of one server's memory, core and network.
  struct shares {
    double memory, cpu, network;
    [[nodiscard]] double most() const { return std::max({memory, cpu, network}); }
  };
  [[nodiscard]] shares shares_of(const fleet_load& load) const {
    return {load.bytes / static_cast<double>(request_.server_bytes), load.cores / constants_.most_share,
            std::max(load.in_bytes, load.out_bytes) / network_bytes()};
  }

  /// @return the next number of servers to try; `servers`: this number is enough
  std::uint64_t fill(fleet_design& d, const planned& p, std::uint64_t servers) const {
    const auto partitions = static_cast<double>(p.spec.partitions);
    const double of_busiest = std::ceil(partitions / static_cast<double>(servers)) / partitions;
    const fleet_load all = servers_load(p.spec);
    d.filter_bytes = bytes_of(p.spec);
    d.partitions = p.spec.partitions;
    d.partitions_must_be_given = p.partitions_must_be_given;
    d.servers = servers;
    d.server = {all.bytes * of_busiest, all.cores * of_busiest, all.in_bytes * of_busiest,
                all.out_bytes * of_busiest};
    d.client = client_load(p.spec);
    d.journal_share = journal_share(p.spec);
    const shares busiest = shares_of(d.server);
    d.decided_by = busiest.most() == busiest.memory ? "memory"
                   : busiest.most() == busiest.cpu  ? "CPU"
                                                    : "network";
    if (busiest.most() <= 1) return servers;
    const double together = std::min(std::ceil(shares_of(all).most()), 1e9);
    return std::max(static_cast<std::uint64_t>(together), servers + 1);
  }
};

/// Why this number of clients cannot read all events; empty: it can.
std::string too_many_events(const fleet_request& r, const fleet_constants& c, std::uint64_t clients) {
  if (clients >= clients_needed(r, c)) return {};
  return fmt::format("each client would read {} events a second, and reads at most {}",
                     format_count(r.per_second / clients),
                     format_count(static_cast<std::uint64_t>(c.client_events)));
}

std::string served_design::limit(const fleet_design& /*d*/) const {
  return too_many_events(request_, constants_, clients_of(request_, constants_));
}

std::string served_design::obstacle(const fleet_design& d) const {
  if (d.client.cores > constants_.client_cores)
    return fmt::format("each client would need {:.1f} cores, and has {:g}", d.client.cores,
                       constants_.client_cores);
  const double network = std::max(d.client.in_bytes, d.client.out_bytes);
  if (network > network_bytes())
    return fmt::format("each client would move {}/s, and its network is planned for {}/s",
                       format_bytes(network), format_bytes(network_bytes()));
  return {};
}

class client_design final : public served_design {
 public:
  using served_design::served_design;

 private:
  [[nodiscard]] judge_kind judge() const override { return judge_kind::client; }
  [[nodiscard]] spec filter_on(const redis::redis_url& servers, const spec_request& request) const override {
    return redis::plan_for_clients(servers, request);
  }

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
          "a partition's journal takes one record a round trip, and {} records a second would come",
          format_count(static_cast<std::uint64_t>(records(d.partitions))));
    return served_design::obstacle(d);
  }
};

/// The cost of a key judged by its server.
struct server_costs {
  double fresh_us, repeat_us, own_us, in_bytes, out_bytes;
  double call_us, call_own_us, call_bytes;
};

class server_design : public served_design {
 public:
  using served_design::served_design;

 private:
  [[nodiscard]] virtual server_costs costs(const spec& s) const = 0;

  [[nodiscard]] double calls_to_servers(const spec& s) const {
    return calls_of(batches(), constants_.batch_keys, s.partitions);
  }

  [[nodiscard]] fleet_load servers_load(const spec& s) const override {
    const server_costs c = costs(s);
    const double calls = calls_to_servers(s);
    return {.bytes = static_cast<double>(bytes_of(s)) * (1 + constants_.copied_share),
            .cores = 1e-6 * (rates_.fresh * c.fresh_us + rates_.repeats * c.repeat_us + calls * c.call_us),
            .in_bytes = rates_.all * c.in_bytes + calls * c.call_bytes,
            .out_bytes = rates_.all * c.out_bytes};
  }

  [[nodiscard]] fleet_load client_load(const spec& s) const override {
    const server_costs c = costs(s);
    const fleet_load servers = servers_load(s);
    return {.bytes = 0,
            .cores = 1e-6 * (rates_.all * c.own_us + calls_to_servers(s) * c.call_own_us) / clients_,
            .in_bytes = servers.out_bytes / clients_,
            .out_bytes = servers.in_bytes / clients_};
  }
};

class script_design final : public server_design {
 public:
  using server_design::server_design;

 private:
  [[nodiscard]] spec filter_on(const redis::redis_url& servers, const spec_request& request) const override {
    return redis::plan_for_redis(servers, request);
  }
  [[nodiscard]] server_costs costs(const spec& s) const override {
    const fleet_constants& c = constants_;
    const double more = (static_cast<double>(s.probes) - usual_probes) * c.script_unit_us;
    return {std::max(c.script_fresh_us + more, 0.0),
            std::max(c.script_repeat_us + more, 0.0),
            c.script_own_us,
            c.script_in_bytes * static_cast<double>(s.probes) / usual_probes,
            c.script_out_bytes,
            c.script_call_us,
            c.script_call_own_us,
            c.script_call_bytes};
  }
};

class module_design final : public server_design {
 public:
  using server_design::server_design;

 private:
  [[nodiscard]] spec filter_on(const redis::redis_url& servers, const spec_request& request) const override {
    return redis::plan_for_redis(servers, request, redis::judged_by::module);
  }
  [[nodiscard]] server_costs costs(const spec& s) const override {
    const fleet_constants& c = constants_;
    const double more = (static_cast<double>(lines_per_key(s.layout)) - usual_lines) * c.module_unit_us;
    return {std::max(c.module_fresh_us + more, 0.0),
            std::max(c.module_repeat_us + more, 0.0),
            c.module_own_us,
            c.module_in_bytes,
            c.module_out_bytes,
            c.module_call_us,
            c.module_call_own_us,
            c.module_call_bytes};
  }
};

fleet_design embedded(const fleet_request& r, const fleet_constants& c) {
  const spec s = make_spec(filter_of(r, judge_kind::server));
  const stream_rates rates = rates_of(r);
  fleet_design d{.name = "embedded", .filter_bytes = bytes_of(s), .partitions = s.partitions};
  d.client = {static_cast<double>(d.filter_bytes),
              1e-6 * (rates.fresh * c.embedded_fresh_us + rates.repeats * c.embedded_repeat_us), 0, 0};
  if (r.clients.value_or(1) > 1)
    d.why_not = "a filter in a process knows nothing of what other processes add";
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

std::uint64_t clients_of(const fleet_request& r, const fleet_constants& c) {
  return r.clients.value_or(std::max(usual_clients, clients_needed(r, c)));
}

std::vector<fleet_design> designs_of(const fleet_request& request, const fleet_constants& constants) {
  return {embedded(request, constants), client_design(request, constants).plan("client"),
          script_design(request, constants).plan("script"), module_design(request, constants).plan("module")};
}

}  // namespace everseen
