#pragma once

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include <sys/utsname.h>

namespace everseen::test {

/// Kilobytes in huge pages of the mapping with this address, as the kernel reports them.
inline std::size_t huge_kib_at(const std::byte* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool is_in = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &from, &end) == 2)
      is_in = from <= wanted && wanted < end;
    std::size_t kib = 0;
    if (is_in && std::sscanf(line.c_str(), "AnonHugePages: %zu kB", &kib) == 1) return kib;
  }
  return 0;
}

inline bool kernel_has_huge_pages() {
  std::string modes;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), modes);
  return modes.find("[madvise]") != std::string::npos || modes.find("[always]") != std::string::npos;
}

/// Since Linux 6.1.
inline bool kernel_gathers_on_request() {
  utsname system{};
  uname(&system);
  int major = 0, minor = 0;
  std::sscanf(system.release, "%d.%d", &major, &minor);
  return major > 6 || (major == 6 && minor >= 1);
}

}  // namespace everseen::test
