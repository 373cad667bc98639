#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "everseen/core/hash/digest.hpp"

namespace everseen::test {

/// Uniform digests, the same in every run and on every machine: SplitMix64 from a seed.
class random_digests {
 public:
  explicit random_digests(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t word() noexcept {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  digest operator()() noexcept {
    const std::uint64_t low = word();
    return {low, word()};
  }

  std::vector<digest> take(std::size_t n) {
    std::vector<digest> digests(n);
    for (digest& d : digests) d = (*this)();
    return digests;
  }

 private:
  std::uint64_t state_;
};

}  // namespace everseen::test
