#include "everseen/core/base/verdict.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace everseen {

namespace {

/// The most verdicts that a byte can count: a vector then has as many counters as bytes.
constexpr std::size_t most_in_a_byte = std::numeric_limits<std::uint8_t>::max();

std::uint64_t count(std::span<const verdict> few, verdict wanted) noexcept {
  std::uint8_t sum = 0;
  for (const verdict v : few) sum = static_cast<std::uint8_t>(sum + (v == wanted));
  return sum;
}

}  // namespace

tally tally_of(std::span<const verdict> verdicts) noexcept {
  tally sum;
  for (std::size_t from = 0; from < verdicts.size(); from += most_in_a_byte) {
    const auto few = verdicts.subspan(from, std::min(most_in_a_byte, verdicts.size() - from));
    sum.fresh += count(few, verdict::fresh);
    sum.seen += count(few, verdict::seen);
    sum.late += count(few, verdict::late);
  }
  sum.unknown = verdicts.size() - sum.fresh - sum.seen - sum.late;
  return sum;
}

}  // namespace everseen
