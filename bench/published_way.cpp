#include "bench/published_way.hpp"

#include <array>
#include <span>
#include <string>

#include "everseen/core/layout/layout.hpp"
#include "everseen/redis/wire/command.hpp"

#include "bench/support.hpp"

namespace everseen::bench {

void published_way::measure(redis_server& server, unsigned probes) {
  const auto digests = random_digests(10'000, 5);
  const geometry shape{layout_kind::classic, static_cast<std::uint8_t>(probes), std::uint64_t{4} << 20};
  std::array<std::uint64_t, max_probes> positions{};
  const double cpu_before = server.cpu_seconds() + own_cpu_seconds();
  const double took = seconds([&] {
    for (const digest& d : digests) {
      std::string wire;
      const std::size_t count = bit_positions(shape, d, positions);
      for (std::size_t i = 0; i < count; ++i)
        wire += redis::encode({"SETBIT", "published", std::to_string(positions[i]), "1"});
      const redis::request r{{}, std::move(wire), count, true};
      require(server.connections().exchange(std::span(&r, 1)).front().has_value(), "SETBIT");
    }
  });
  keys += static_cast<double>(digests.size());
  wall_seconds += took;
  cpu_seconds += server.cpu_seconds() + own_cpu_seconds() - cpu_before;
  (void)server.connections().ask({}, {"UNLINK", "published"});
}

}  // namespace everseen::bench
