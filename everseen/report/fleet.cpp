#include "everseen/report/fleet.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/text/json.hpp"

namespace everseen {

const fleet_constants& usual_constants() {
  static const fleet_constants usual = {
      {"embedded_us", 0.037},      {"client_fresh_us", 0.05},    {"client_another_us", 0.035},
      {"client_own_us", 0.15},     {"client_known_us", 0.038},   {"client_in_bytes", 40},
      {"client_out_bytes", 33},    {"client_call_us", 7.2},      {"module_fresh_us", 0.051},
      {"module_repeat_us", 0.065}, {"module_own_us", 0.03},      {"module_in_bytes", 17.5},
      {"module_call_us", 5},       {"call_own_us", 2.9},         {"call_bytes", 372},
      {"round_trip_us", 250},      {"batch_keys", 50'000},       {"network_gbit", 10},
      {"most_share", 0.6},         {"client_events", 2'000'000}, {"client_cores", 8},
      {"journal_share", 1.6},      {"copied_share", 0.8},
  };
  return usual;
}

fleet_constants read_constants(std::string_view json) {
  const auto refuse = [](const std::string& why) {
    throw parameter_error("the constants are not usable: " + why +
                          "; everseen bench --store URL --json makes some");
  };
  const auto given = nlohmann::json::parse(json, nullptr, false);
  if (!given.is_object() || !given.contains("constants") || !given["constants"].is_object())
    refuse("they are no JSON object with a member constants, or a number in it is too large");
  fleet_constants all = usual_constants();
  for (const auto& [name, value] : given["constants"].items()) {
    if (!all.contains(name)) refuse("there is none called " + name);
    if (!value.is_number()) refuse(fmt::format("the value of {} is no number", name));
    all[name] = value.get<double>();
    if (!(all[name] > 0 && all[name] <= 1e9))
      refuse(fmt::format("{} must be above 0 and at most 1e9, not {:g}", name, all[name]));
  }
  return all;
}

namespace {

constexpr double most_servers = 4096;  // more than anyone uses for one filter
/// A partition may double once more: it is a string of Redis of at most 512 MiB, or is moved as one.
constexpr double partition_bytes = 192 << 20;

/// What a server takes for a string: the sizes of its allocator, jemalloc, are a quarter of a power of two
/// apart.
double allocated(double bytes) {
  const double step = std::exp2(std::ceil(std::log2(bytes)) - 3);
  return std::ceil(bytes / step) * step;
}

struct planner {
  const fleet_request& asked;
  const fleet_constants& constants;
  double events = static_cast<double>(*asked.per_second);
  double fresh = events * asked.fresh_share.value_or(1), repeats = events - fresh;
  double batches = events / at("batch_keys");
  double needed_clients = std::ceil(events / at("client_events"));
  double clients =
      asked.clients ? static_cast<double>(*asked.clients) : std::max(usual_clients, needed_clients);
  double server_bytes = static_cast<double>(asked.server_bytes.value_or(std::uint64_t{64} << 30));
  double client_bytes = static_cast<double>(asked.client_bytes.value_or(std::uint64_t{16} << 30));

  [[nodiscard]] double at(std::string_view name) const { return constants.find(name)->second; }
  [[nodiscard]] double network() const { return at("network_gbit") * 1e9 / 8 * at("most_share"); }

  /// A filter as create makes it, in this many partitions.
  [[nodiscard]] fleet_design design(std::string_view name, std::optional<std::uint32_t> partitions) const {
    const spec s =
        make_spec({.capacity = asked.keys, .error_rate = asked.error_rate, .partitions = partitions});
    const std::uint64_t bytes = growth::plan_layer(s, 0).shape.bytes * s.partitions;
    return {.name = name, .partitions = s.partitions, .filter_bytes = bytes};
  }

  /// Calls a second: one for each partition that has keys of a batch.
  [[nodiscard]] double calls(double keys, double partitions) const {
    return batches * partitions * (1 - std::pow(1 - 1 / partitions, keys));
  }

  [[nodiscard]] fleet_design embedded() const {
    fleet_design d = design("embedded", std::nullopt);
    d.client = {static_cast<double>(d.filter_bytes), 1e-6 * events * at("embedded_us"), 0, 0};
    return d;
  }

  /// The server orders the fresh keys, and each client reads what the others add. With several clients each
  /// batch is refused once, as others have added keys meanwhile, and is sent again.
  void judge_by_clients(fleet_design& d) const {
    const double bits = static_cast<double>(d.filter_bytes), others = clients - 1;
    const double all_calls = (others > 0 ? 2 : 1) * calls(fresh / std::max(batches, 1e-9), d.partitions);
    // The journal is at most as long as the bits, but in strings that were appended to.
    const double stored = d.partitions * allocated(bits / d.partitions);
    d.server = {.bytes = stored + bits * (at("journal_share") + at("copied_share")),
                .cores = 1e-6 * (fresh * (at("client_fresh_us") + others * at("client_another_us")) +
                                 all_calls * at("client_call_us")),
                .in_bytes = fresh * at("client_in_bytes") + all_calls * at("call_bytes"),
                .out_bytes = fresh * others * at("client_out_bytes")};
    d.client = {.bytes = bits,
                .cores = 1e-6 *
                         (fresh * at("client_own_us") + (repeats + fresh * others) * at("client_known_us") +
                          all_calls * at("call_own_us")) /
                         clients};
  }

  void judge_by_module(fleet_design& d) const {
    const double all_calls = calls(at("batch_keys"), d.partitions);
    const double bits = static_cast<double>(d.filter_bytes);
    d.server = {.bytes = d.partitions * allocated(bits / d.partitions) + bits * at("copied_share"),
                .cores = 1e-6 * (fresh * at("module_fresh_us") + repeats * at("module_repeat_us") +
                                 all_calls * at("module_call_us")),
                .in_bytes = events * at("module_in_bytes") + all_calls * at("call_bytes"),
                .out_bytes = events};  // a verdict is a byte
    d.client = {.cores = 1e-6 * (events * at("module_own_us") + all_calls * at("call_own_us")) / clients};
  }

  /// The fewest servers that bear the load, with the same number of partitions on each: more servers may mean
  /// more partitions, hence more calls.
  [[nodiscard]] fleet_design served(std::string_view name) const {
    const double bytes = static_cast<double>(design(name, 1).filter_bytes);
    for (double servers = 1; servers <= most_servers;) {
      const double each = std::ceil(bytes / partition_bytes / servers);
      const double partitions = servers * std::min(each, std::floor(max_partitions / servers));
      fleet_design d = design(name, static_cast<std::uint32_t>(partitions));
      name == "client" ? judge_by_clients(d) : judge_by_module(d);
      const double memory = d.server.bytes / server_bytes, cpu = d.server.cores / at("most_share");
      const double moved = std::max(d.server.in_bytes, d.server.out_bytes) / network();
      const double needed = std::max({memory, cpu, moved});
      if (needed > servers) {
        servers = std::ceil(needed);
        continue;
      }
      d.servers = servers;
      d.decided_by = needed == memory ? "memory" : needed == cpu ? "CPU" : "network";
      d.client.in_bytes = d.server.out_bytes / clients;
      d.client.out_bytes = d.server.in_bytes / clients;
      for (double* sum : {&d.server.bytes, &d.server.cores, &d.server.in_bytes, &d.server.out_bytes})
        *sum /= servers;
      return d;
    }
    return {.name = name, .why_not = fmt::format("it would need more than {:.0f} servers", most_servers)};
  }

  /// What a client, or the order of a partition, cannot bear; or why the design was not asked for.
  [[nodiscard]] std::string_view limit(const fleet_design& d) const {
    const bool by_client = d.name == "client", alone = d.name == "embedded";
    // A client must know all keys of a partition before it adds more: one record a round trip.
    const double records = std::min(batches, fresh / d.partitions);
    const auto judge = by_client ? judge_kind::client : judge_kind::server;
    const std::pair<bool, std::string_view> limits[] = {
        {d.client.bytes > client_bytes, "each client would keep the whole filter, and lacks the memory"},
        {by_client && static_cast<double>(d.filter_bytes) / d.partitions > 512 << 20,
         "a partition would be longer than a string of Redis"},
        {clients < needed_clients, "the clients cannot read this many events per second"},
        {d.client.cores > at("client_cores"), "each client would need more cores than it has"},
        {std::max(d.client.in_bytes, d.client.out_bytes) > network(),
         "each client would move more than its network is planned for"},
        {by_client && 1e-6 * records * at("round_trip_us") > at("most_share"),
         "a partition's journal takes one record a round trip, and more would arrive; send larger batches"},
        {alone && (clients != 1 || asked.judge), "it needs one process that sees all keys (--clients 1)"},
        {!alone && asked.judge.value_or(judge) != judge, "another judge was asked for"},
        {d.name == "module" && !asked.module, "it needs servers that load the module (--module)"}};
    for (const auto& [is_passed, reason] : limits)
      if (is_passed) return reason;
    return {};
  }
};

}  // namespace

fleet_plan plan_fleet(const fleet_request& request, const fleet_constants& constants) {
  const planner costs{request, constants};
  fleet_plan plan{.clients = costs.clients,
                  .designs = {costs.embedded(), costs.served("client"), costs.served("module")}};
  for (std::size_t i = 0; i < plan.designs.size(); ++i) {
    fleet_design& d = plan.designs[i];
    if (d.why_not.empty()) d.why_not = costs.limit(d);
    if (!d.why_not.empty()) continue;
    const fleet_design* best = plan.picked ? &plan.designs[*plan.picked] : nullptr;
    if (!best || std::pair(d.servers, d.server.cores) < std::pair(best->servers, best->server.cores))
      plan.picked = i;
  }
  return plan;
}

}  // namespace everseen
