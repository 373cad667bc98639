#pragma once

#include "everseen/core/kernels.hpp"

// The kernels that this build holds; which of them may run is kernels.cpp's question.
namespace everseen::kernel_table {

extern const kernel scalar;
#if defined(__x86_64__)
extern const kernel avx2;
extern const kernel avx512;
#endif

}  // namespace everseen::kernel_table
