#pragma once

#include "everseen/core/kernel/kernels.hpp"

// The kernels in this build; kernels.cpp decides which of them may run.
namespace everseen::kernel_table {

extern const kernel scalar;
#if defined(__x86_64__)
extern const kernel avx2;
extern const kernel avx512;
#elif defined(__aarch64__)
extern const kernel neon;
#endif

}  // namespace everseen::kernel_table
