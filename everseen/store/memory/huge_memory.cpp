#include "everseen/store/memory/huge_memory.hpp"

#include <algorithm>
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
constexpr std::size_t gathered_at_a_time_bytes = 16 * huge_page_bytes;
/// MADV_COLLAPSE of Linux, which glibc 2.36 does not name yet.
constexpr int advice_collapse = 25;
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
  const bool starts_small = slack != 0 && at_first == pages::small;
  huge_bytes_ = starts_small ? 0 : bytes;
  // Only advice: a kernel without huge pages may refuse. A kernel that always uses huge pages needs the
  // opposite advice.
  if (slack != 0) madvise(data_, bytes, starts_small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
}

// Step by step: all of a large filter would take seconds, in which its partition answers nobody.
void huge_memory::gather() noexcept {
  if (huge_bytes_ == size_) return;
  if (huge_bytes_ == 0) madvise(data_, size_, MADV_HUGEPAGE);
  const std::size_t bytes = std::min(gathered_at_a_time_bytes, size_ - huge_bytes_);
  // A kernel before 6.1 does not know this advice, and gathers the pages in the background.
  madvise(data_ + huge_bytes_, bytes, advice_collapse);
  huge_bytes_ += bytes;
}

huge_memory::~huge_memory() {
  if (mapping_ != nullptr)
    munmap(mapping_, mapped_bytes_);
  else
    std::free(data_);
}

}  // namespace everseen
