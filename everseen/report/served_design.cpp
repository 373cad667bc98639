#include "everseen/report/served_design.hpp"

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
/// When the first layer is full, one of twice the keys still fits: a journal's segments are Redis strings,
/// and DUMP and MIGRATE make one of a value.
constexpr std::uint64_t good_segment_bytes = std::uint64_t{192} << 20;

redis::redis_url url_of(std::uint64_t servers) {
  redis::redis_url url;
  url.shape = servers > 1 ? redis::redis_url::topology::many : redis::redis_url::topology::one;
  url.endpoints.resize(servers);
  return url;
}

}  // namespace

stream_rates rates_of(const fleet_request& r) {
  const auto all = static_cast<double>(r.per_second);
  return {all, all * r.fresh_share, all * (1 - r.fresh_share)};
}

spec_request filter_of(const fleet_request& r, judge_kind judge) {
  return {.capacity = r.keys, .error_rate = r.error_rate, .judge = judge};
}

std::uint64_t bytes_of(const spec& s) {
  return growth::plan_layer(s, 0).shape.bytes * s.partitions;
}

std::string too_many_events(const fleet_request& r, const fleet_constants& c, std::uint64_t clients) {
  if (clients >= clients_needed(r, c)) return {};
  return fmt::format("each client would read {} events a second, and reads at most {}",
                     format_count(r.per_second / clients),
                     format_count(static_cast<std::uint64_t>(c.client_events)));
}

fleet_design served_design::plan(std::string_view name) const {
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

std::vector<served_design::planned> served_design::filters_on(std::uint64_t servers) const {
  std::vector<planned> all;
  const redis::redis_url url = url_of(servers);
  spec_request request = filter_of(request_, judge());
  try {
    all.push_back({redis::plan_for_redis(url, request)});
  } catch (const parameter_error&) {  // the second choice has more partitions
  }
  request.partitions = 1;
  const std::uint64_t bytes = bytes_of(all.empty() ? make_spec(request) : all[0].spec);
  const std::uint64_t each = bytes / (servers * good_segment_bytes) + 1;
  request.partitions = static_cast<std::uint32_t>(std::min<std::uint64_t>(servers * each, max_partitions));
  try {
    all.push_back({redis::plan_for_redis(url, request), true});
  } catch (const parameter_error&) {  // the limit of partitions is reached
  }
  return all;
}

served_design::shares served_design::shares_of(const fleet_load& load) const {
  return {load.bytes / static_cast<double>(request_.server_bytes), load.cores / constants_.most_share,
          std::max(load.in_bytes, load.out_bytes) / network_bytes()};
}

std::uint64_t served_design::fill(fleet_design& d, const planned& p, std::uint64_t servers) const {
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

}  // namespace everseen
