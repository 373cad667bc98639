#include "bench/support.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "everseen/core/layout/layout.hpp"
#include "everseen/store/memory/memory_segments.hpp"

namespace everseen::bench {

std::vector<digest> random_digests(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<digest> digests(count);
  for (digest& d : digests) d = {random(), random()};
  return digests;
}

double dependent_load_ns(std::size_t bytes) {
  static std::map<std::size_t, double> known;
  if (const auto found = known.find(bytes); found != known.end()) return found->second;

  const std::size_t lines = bytes / line_bytes;
  const huge_memory memory(bytes);
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  const auto next_of = [&](std::size_t line) -> volatile std::uint32_t& {
    return *reinterpret_cast<std::uint32_t*>(memory.data() + line * line_bytes);
  };
  for (std::size_t i = 0; i < lines; ++i) next_of(order[i]) = order[(i + 1) % lines];

  // Each repetition continues where the last one ended: the same path again would be in the cache.
  const std::size_t steps = std::min(lines, std::size_t{1} << 21);
  std::uint32_t line = order[0];
  double best = 1e9;
  for (int repetition = 0; repetition < 3; ++repetition) {
    best = std::min(best, seconds([&] {
                      for (std::size_t i = 0; i < steps; ++i) line = next_of(line);
                    }));
    benchmark::DoNotOptimize(line);
  }
  return known[bytes] = best / static_cast<double>(steps) * 1e9;
}

temporary_folder::temporary_folder()
    : path_((std::filesystem::temp_directory_path() / "everseen-bench-XXXXXX").string()) {
  require(mkdtemp(path_.data()) != nullptr, "no temporary folder");
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::uint16_t free_port() {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof at;
  require(::bind(s, reinterpret_cast<sockaddr*>(&at), length) == 0 &&
              ::getsockname(s, reinterpret_cast<sockaddr*>(&at), &length) == 0,
          "no free port");
  ::close(s);
  return ntohs(at.sin_port);
}

}  // namespace everseen::bench
