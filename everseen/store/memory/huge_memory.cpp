#include "everseen/store/memory/huge_memory.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <sys/mman.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/layout.hpp"

namespace everseen {

namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
constexpr std::size_t heap_limit_bytes = std::size_t{128} << 10;  // smaller mappings would waste pages

[[noreturn]] void no_memory(std::size_t bytes) {
  throw storage_error("not enough memory for a segment of " + std::to_string(bytes) +
                          " bytes; lower the capacity, raise the error rate, or use a file: store",
                      ENOMEM, {});
}

}  // namespace

huge_memory::huge_memory(std::size_t bytes, pages at_first) : size_(bytes) {
  if (bytes <= heap_limit_bytes) {
    const std::size_t rounded = (bytes + line_bytes - 1) / line_bytes * line_bytes;
    data_ = static_cast<std::byte*>(std::aligned_alloc(line_bytes, rounded));
    if (data_ == nullptr) no_memory(bytes);
    std::memset(data_, 0, rounded);
    return;
  }
  const std::size_t slack = bytes >= huge_page_bytes ? huge_page_bytes : 0;  // to align to a huge page
  if (bytes > SIZE_MAX - slack) no_memory(bytes);
  mapped_bytes_ = bytes + slack;
  mapping_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) no_memory(bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  const std::uintptr_t aligned = slack == 0 ? address : (address + slack - 1) / slack * slack;
  data_ = reinterpret_cast<std::byte*>(aligned);
  small_pages_ = slack != 0 && at_first == pages::small;
  // Only advice: a kernel without huge pages may refuse. A kernel that always uses huge pages needs the
  // opposite advice.
  if (slack != 0) madvise(data_, bytes, small_pages_ ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
}

void huge_memory::expect_many_touches() noexcept {
  if (!std::exchange(small_pages_, false)) return;
  madvise(data_, size_, MADV_HUGEPAGE);
#ifdef MADV_COLLAPSE  // Linux 6.1; older kernels collapse pages in the background
  madvise(data_, size_, MADV_COLLAPSE);
#endif
}

huge_memory::~huge_memory() {
  if (mapping_ != nullptr)
    munmap(mapping_, mapped_bytes_);
  else
    std::free(data_);
}

}  // namespace everseen
