#pragma once

#include <cmath>
#include <cstdint>

#include "everseen/core/layout/layout.hpp"

namespace everseen::cli {

/// Random numbers for one sample record: Steele, Lea and Flood's SplitMix64 (public domain). It uses only
/// integers, so a sample is the same on every machine.
///
/// Each record has its own sequence, a function of the seed and the record's number alone. So an earlier
/// record can be generated again at any time, and repeats need no memory.
class sample_random {
 public:
  sample_random(std::uint64_t seed, std::uint64_t record) noexcept
      : state_(mix(mix(seed) + record * 0x9E3779B97F4A7C15)) {}

  [[nodiscard]] std::uint64_t next() noexcept { return mix(state_ += 0xD1B54A32D192ED03); }

  /// Uniform in [0, range).
  [[nodiscard]] std::uint64_t below(std::uint64_t range) noexcept { return draw::reduce(next(), range); }

  /// The finalizer of SplitMix64: a bijection in which every input bit moves every output bit.
  [[nodiscard]] static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }

 private:
  std::uint64_t state_;
};

/// True for a fixed share of records.
class sample_share {
 public:
  explicit sample_share(double share) noexcept
      : all_(share >= 1), limit_(all_ ? 0 : static_cast<std::uint64_t>(std::ldexp(share, 64))) {}
  [[nodiscard]] bool operator()(std::uint64_t random) const noexcept { return all_ || random < limit_; }

 private:
  bool all_;
  std::uint64_t limit_;
};

}  // namespace everseen::cli
