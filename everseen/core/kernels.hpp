#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "everseen/core/digest.hpp"
#include "everseen/core/layout.hpp"
#include "everseen/core/verdict.hpp"

namespace everseen {

/// The inner loops: batch look-up and fused test-and-add over one segment, for one kind of CPU.
///
/// All kernels give the same verdicts and the same bits; they differ in speed alone. `best_kernel()` picks
/// one when the program starts, so a binary built for any x86-64 uses AVX-512 where it is.
///
/// How they are fast: a filter larger than the caches costs one memory latency a line, so what counts is how
/// many lines are on their way at once. A rolling ring asks for the line of key i+32 while it works on key i,
/// into L2, in every segment of more than 1 MiB; a smaller one lives in L2 anyway. Larger distances, other
/// levels and a second ring were measured without gain: doc/measurements.md, "Prefetch ring".
///
/// Preconditions of both functions: `segment` holds shape.bytes bytes, at any address, but fastest at a
/// multiple of 64; `out` has as many elements as `digests`. Verdicts come in the order of the digests, and a
/// key that occurs twice in a batch is `fresh` at most once when added. Threads: look-ups may overlap each
/// other; an add needs the segment for itself.
struct kernel {
  using check_function = std::uint64_t(const std::byte* segment, const geometry& shape,
                                       std::span<const digest> digests, verdict* out) noexcept;
  using add_function = std::uint64_t(std::byte* segment, const geometry& shape,
                                     std::span<const digest> digests, verdict* out) noexcept;

  std::string_view name;
  check_function* check;  ///< returns how many were fresh
  add_function* add;      ///< returns how many were fresh; sets the bits of all
};

/// The fastest kernel this CPU can run; EVERSEEN_KERNEL=scalar|avx2|avx512 in the environment forces another,
/// if the CPU has it.
[[nodiscard]] const kernel& best_kernel() noexcept;

/// Every kernel this CPU can run, slowest (scalar) first.
[[nodiscard]] std::span<const kernel> available_kernels() noexcept;

}  // namespace everseen
