#include "everseen/core/kernel/kernels.hpp"

#include <array>
#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "everseen/core/kernel/kernel_table.hpp"

namespace everseen {

namespace {

struct kernel_list {
  std::array<kernel, 3> items{};
  std::size_t size = 0;
};

kernel_list detect() noexcept {
  kernel_list list;
  list.items[list.size++] = kernel_table::scalar;
#if defined(__x86_64__)
  __builtin_cpu_init();
  // All features that cmake/EverseenLayer.cmake enables for these files.
  const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (avx2) list.items[list.size++] = kernel_table::avx2;
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    list.items[list.size++] = kernel_table::avx512;
#elif defined(__aarch64__)
  list.items[list.size++] = kernel_table::neon;  // every such CPU has it
#endif
  return list;
}

const kernel_list& kernels() noexcept {
  static const kernel_list list = detect();
  return list;
}

const kernel& choose() noexcept {
  const auto all = available_kernels();
  if (const char* wanted = std::getenv("EVERSEEN_KERNEL"))
    for (const kernel& k : all)
      if (k.name == wanted) return k;
  return all.back();
}

/// 512 KiB if the CPU does not tell.
std::uint64_t half_of_l2() noexcept {
  std::uint64_t kibibytes = 1024;
#if defined(__x86_64__)
  constexpr unsigned caches_leaf = 0x80000006, size_shift = 16;  // of Intel and AMD alike
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(caches_leaf, &a, &b, &c, &d) != 0 && c >> size_shift != 0) kibibytes = c >> size_shift;
#endif
  return kibibytes * 1024 / 2;
}

}  // namespace

const std::uint64_t kernel_table::cached_bytes = half_of_l2();

std::span<const kernel> available_kernels() noexcept {
  return {kernels().items.data(), kernels().size};
}

const kernel& best_kernel() noexcept {
  static const kernel& best = choose();
  return best;
}

}  // namespace everseen
