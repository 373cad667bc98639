#pragma once

#include <cstdint>

#include "everseen/core/kernel/kernels.hpp"

// The kernels in this build; kernels.cpp decides which of them may run.
namespace everseen::kernel_table {

/// Up to this size a segment stays in the private cache, and prefetching costs more than it saves: half of
/// the L2 of this CPU.
extern const std::uint64_t cached_bytes;

extern const kernel scalar;
#if defined(__x86_64__)
extern const kernel avx2;
extern const kernel avx512;
#elif defined(__aarch64__)
extern const kernel neon;
#endif

}  // namespace everseen::kernel_table
