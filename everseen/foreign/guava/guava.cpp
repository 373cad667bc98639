#include "everseen/foreign/guava/guava.hpp"

#include <algorithm>
#include <array>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/murmur.hpp"
#include "everseen/core/layout/foreign.hpp"

namespace everseen::foreign::guava {

namespace {

template <typename Positions>
void draw_all(const digest& hash, std::uint64_t bits, std::span<std::uint64_t> out) noexcept {
  Positions drawn(hash, bits);
  for (std::uint64_t& each : out) each = drawn.next();
}

}  // namespace

void positions(strategy algorithm, const digest& hash, std::uint64_t bits,
               std::span<std::uint64_t> out) noexcept {
  if (algorithm == strategy::mitz_32)
    draw_all<draw::guava32_positions>(hash, bits, out);
  else
    draw_all<draw::guava64_positions>(hash, bits, out);
}

shape smallest(strategy algorithm, std::uint64_t expected, double rate) {
  if (!(rate > 0 && rate < 1)) throw parameter_error("an error rate lies between 0 and 1");
  const auto [words, probes] = foreign_sizes::guava_size({expected, rate});
  if (words < 1) throw parameter_error("that error rate needs no bits; ask for a lower one");
  if (words > max_words) throw parameter_error("a Guava filter ends at 2^31 - 1 words; expect fewer keys");
  if (probes > max_probes) throw parameter_error("a Guava filter ends at 255 probes; ask for a higher rate");
  return {algorithm, static_cast<std::uint8_t>(probes), static_cast<std::uint64_t>(words)};
}

std::string redis_strings::key(std::string_view base, std::uint64_t number) {
  return std::string(base) + "-" + std::to_string(number);
}

}  // namespace everseen::foreign::guava
