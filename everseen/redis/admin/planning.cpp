#include "everseen/redis/admin/planning.hpp"

#include <algorithm>
#include <bit>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/served/partition_task.hpp"

namespace everseen::redis {

namespace {

constexpr std::uint64_t partitions_a_server = 16;
/// How many times the minimum number of bits a layer may have, in exchange for fewer probes.
constexpr double most_memory = 2;

std::uint64_t servers_at_most(const redis_url& url) {
  // The number of masters in a cluster is unknown before it is asked; a dozen is a large one.
  return url.shape == redis_url::topology::cluster ? 12 : url.endpoints.size();
}

std::uint32_t choose_partitions(const redis_url& url, spec s) {
  s.partitions = 1;
  const std::uint64_t bytes = growth::plan_layer(s, 0).shape.bytes;
  const std::uint64_t by_size = (bytes + url.segment_bytes / 8 - 1) / (url.segment_bytes / 8);
  const std::uint64_t servers = servers_at_most(url);
  const std::uint64_t by_servers = servers == 1 ? 1 : servers * partitions_a_server;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(std::bit_ceil(std::max(by_size, by_servers)), 1, max_partitions));
}

/// The rate of the first layer.
double first_rate(spec_request request) {
  request.probes.reset();
  request.partitions = 1;
  const spec s = make_spec(request);
  return growth::plan_layer(s, 0).error_rate;
}

unsigned cheapest_probes(double rate) {
  const double affordable = most_memory * sizing::bits_per_key(layout_kind::classic, 0, rate);
  unsigned probes = 1;
  while (sizing::bits_per_key(layout_kind::classic, probes, rate) > affordable) ++probes;
  return probes;
}

}  // namespace

spec plan_for_redis(const redis_url& url, spec_request request, judged_by by) {
  if (request.layout && is_foreign(*request.layout)) {
    spec s = make_spec(request);
    if (s.foreign.first_bytes > max_string_bytes)
      throw parameter_error(
          "a filter of another system is one segment, and this one would be longer than the 512 MiB of a "
          "Redis string; ask for fewer keys");
    return s;
  }
  if (!request.layout && by == judged_by::commands) request.layout = layout_kind::classic;
  const double error_rate = request.error_rate.value_or(default_error_rate);
  if (request.layout == layout_kind::classic && !request.probes && error_rate >= sizing::min_error_rate &&
      error_rate <= sizing::max_error_rate)
    request.probes = cheapest_probes(first_rate(request));
  const bool chosen = request.partitions.has_value();
  if (!chosen) request.partitions = 1;
  spec s = make_spec(request);
  if (!chosen) s.partitions = choose_partitions(url, s);
  if (growth::plan_layer(s, 0).shape.bytes > max_string_bytes)
    throw parameter_error(
        "a segment would be longer than the 512 MiB of a Redis string; give more --partitions");
  return s;
}

spec plan_for_clients(const redis_url& url, spec_request request) {
  if (request.layout && is_foreign(*request.layout))
    throw parameter_error("a filter of another system is judged by its server; leave out --judge client");
  const bool chosen = request.partitions.has_value();
  spec s = make_spec(request);
  const std::uint64_t servers = servers_at_most(url);
  if (!chosen && servers > 1)
    s.partitions = static_cast<std::uint32_t>(
        std::bit_ceil(std::max<std::uint64_t>(s.partitions, servers * partitions_a_server)));
  if (growth::plan_layer(s, 0).shape.bytes > max_string_bytes)
    throw parameter_error(
        "a segment would be longer than the 512 MiB of a Redis string; give more --partitions");
  return s;
}

void require_that_clients_hold(const redis_url& url, const spec& s) {
  const std::uint64_t bytes =
      growth::plan_layer(s, 0).shape.bytes * s.partitions * (s.window ? s.window->slices : 1);
  if (bytes <= url.mirror_bytes) return;
  const auto mib = [](std::uint64_t n) { return std::to_string((n + (1 << 20) - 1) >> 20); };
  throw parameter_error(
      "a filter for this many keys has " + mib(bytes) +
      " MiB of bits, which each client would hold, and the URL allows it " + mib(url.mirror_bytes) +
      " MiB; give the option mirror=" + mib(bytes) +
      "Mi if the clients have that memory, or --judge server to keep the bits only on the server, "
      "which is many times slower without the module");
}

}  // namespace everseen::redis
