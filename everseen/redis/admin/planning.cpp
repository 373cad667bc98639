#include "everseen/redis/admin/planning.hpp"

#include <algorithm>
#include <bit>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/redis_keys.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen::redis {

namespace {

constexpr std::uint64_t partitions_a_server = 16;
/// Three doublings later, all layers together fit a string of Redis.
constexpr std::uint64_t most_first_bytes = std::uint64_t{24} << 20;

std::uint64_t servers_at_most(const redis_url& url) {
  // The number of masters in a cluster is unknown before it is asked; a dozen is a large one.
  return url.shape == redis_url::topology::cluster ? 12 : url.endpoints.size();
}

std::uint32_t choose_partitions(const redis_url& url, spec s) {
  const std::uint64_t servers = servers_at_most(url);
  std::uint64_t wanted = servers == 1 ? 1 : servers * partitions_a_server;
  if (s.judge == judge_kind::client) {
    wanted = std::max<std::uint64_t>(wanted, s.partitions);
  } else {
    s.partitions = 1;
    const std::uint64_t bytes = growth::plan_layer(s, 0).shape.bytes;
    wanted = std::max(wanted, (bytes + most_first_bytes - 1) / most_first_bytes);
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::bit_ceil(wanted), max_partitions));
}

}  // namespace

spec plan_for_redis(const redis_url& url, const spec_request& request) {
  spec s = make_spec(request);
  if (!request.partitions && !is_foreign(s.layout)) s.partitions = choose_partitions(url, s);
  if (s.judge == judge_kind::server ||
      growth::plan_layer(s, 0).shape.bytes <= partition_keys::max_segment_bytes)
    return s;
  throw parameter_error(
      is_foreign(s.layout)
          ? "a filter of another system is one segment, and this one would be longer than the 512 MiB of a "
            "Redis string; ask for fewer keys, or load the everseen module into the server"
          : "a segment would be longer than the 512 MiB of a Redis string; give more --partitions");
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
      "Mi if the clients have that memory. Or let servers judge, which then have the only copy: load the "
      "everseen module into every server, or run everseen serve for all clients");
}

}  // namespace everseen::redis
