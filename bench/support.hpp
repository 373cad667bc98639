#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "everseen/core/hash/digest.hpp"

namespace everseen::bench {

/// Digests of uniformly random keys, the same in every run.
std::vector<digest> random_digests(std::size_t count, std::uint64_t seed);

/// Time of one load whose address is the result of the previous load, in ns: a random walk over all 64-byte
/// lines of `bytes` of filter memory. Measured once a size.
double dependent_load_ns(std::size_t bytes);

/// Benchmarks check their answers before they measure. A wrong answer ends the program, so that no fast
/// wrong answer becomes a figure.
inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("wrong answer, so nothing to measure: " + what);
}

/// A folder of this process, removed with everything in it when this ends.
class temporary_folder {
 public:
  temporary_folder();
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  /// The path of a file in it.
  [[nodiscard]] std::string path(const std::string& name = "") const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A TCP port of 127.0.0.1 that was free a moment ago.
[[nodiscard]] std::uint16_t free_port();

/// The duration of `work` in seconds.
template <typename Work>
double seconds(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace everseen::bench
