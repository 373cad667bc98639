#include "everseen/redis/planning.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "everseen/core/error.hpp"
#include "everseen/core/growth.hpp"
#include "everseen/core/sizing.hpp"
#include "everseen/redis/partition_task.hpp"

namespace everseen::redis {

namespace {

constexpr std::uint64_t partitions_a_server = 16;

std::uint64_t servers_at_most(const redis_url& url) {
  // How many masters a cluster has is not known before it is asked; a dozen is a large one.
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

}  // namespace

spec plan_for_redis(const redis_url& url, spec_request request) {
  if (!request.layout) request.layout = layout_kind::classic;
  if (*request.layout == layout_kind::classic && !request.probes && request.error_rate > 0 &&
      request.error_rate < 1)
    request.probes = static_cast<unsigned>(std::max(1.0, std::round(-0.47 * std::log2(request.error_rate))));
  const bool chosen = request.partitions.has_value();
  if (!chosen) request.partitions = 1;
  spec s = make_spec(request);
  if (!chosen) s.partitions = choose_partitions(url, s);
  if (growth::plan_layer(s, 0).shape.bytes > max_string_bytes)
    throw parameter_error(
        "a segment would be longer than the 512 MiB of a Redis string; give more --partitions");
  return s;
}

}  // namespace everseen::redis
