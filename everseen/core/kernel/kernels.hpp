#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/layout/layout.hpp"

namespace everseen {

/// The inner loops: batch look-up and fused test-and-add over one segment, for one kind of CPU.
///
/// All kernels give the same verdicts and the same bits; only their speed differs. `best_kernel()` selects
/// one at program start, so a binary built for any x86-64 uses AVX-512 where available. On arm64 it is NEON.
///
/// Performance: a filter larger than the caches costs one memory latency per line, so throughput depends on
/// the number of lines in flight. While key i is judged, the line of key i+32 is prefetched into L2. This
/// applies to segments larger than half of the L2; a smaller one stays there anyway. Larger distances, other
/// cache levels and a second ring gave no gain: doc/measurements.md, "Prefetch ring".
///
/// Preconditions of both functions: `segment` holds shape.bytes bytes at any address; multiples of 64 are
/// fastest. `out` has as many elements as `digests`. Verdicts are in the order of the digests. When added, a
/// key that occurs twice in a batch is `fresh` at most once. Threads: look-ups may run concurrently; an add
/// needs exclusive access to the segment.
struct kernel {
  using check_function = std::uint64_t(const std::byte* segment, const geometry& shape,
                                       std::span<const digest> digests, verdict* out) noexcept;
  using add_function = std::uint64_t(std::byte* segment, const geometry& shape,
                                     std::span<const digest> digests, verdict* out) noexcept;

  std::string_view name;
  check_function* check;  ///< returns the number of fresh keys
  add_function* add;      ///< returns the number of fresh keys; sets the bits of all keys
};

/// The fastest kernel that this CPU can run. The environment variable EVERSEEN_KERNEL=scalar|avx2|avx512|neon
/// selects another one, if the CPU supports it.
[[nodiscard]] const kernel& best_kernel() noexcept;

/// Every kernel this CPU can run, slowest (scalar) first.
[[nodiscard]] std::span<const kernel> available_kernels() noexcept;

}  // namespace everseen
