#include "everseen/store/memory/memory_segments.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <sys/mman.h>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/kernel/first_touch.hpp"
#include "everseen/core/layout/layout.hpp"

namespace everseen {

namespace {

/// A layer up to this size, over all partitions, has huge pages from the start: zeroing it takes a tenth of a
/// second.
constexpr std::uint64_t huge_at_once_bytes = std::uint64_t{128} << 20;

/// The number of keys that touch an eighth of the small pages of a segment: a ten-thousandth of those that it
/// has room for. All others are faster in huge pages.
std::uint64_t few_keys(const geometry& shape) noexcept {
  constexpr std::uint64_t page_bytes = 4096;
  return shape.bytes / page_bytes / 8 / touched_lines(shape);
}

}  // namespace

std::size_t memory_segments::place_of(const segment_id& id) const noexcept {
  const auto& list = partitions_[id.partition];
  const auto found = std::lower_bound(
      list.begin(), list.end(), id, [](const segment& s, const segment_id& wanted) { return s.id < wanted; });
  return static_cast<std::size_t>(found - list.begin());
}

std::byte* memory_segments::at(const segment_id& id) const noexcept {
  const auto& list = partitions_[id.partition];
  const std::size_t place = place_of(id);
  EVERSEEN_ASSERT(place < list.size() && list[place].id == id);
  return list[place].bits.data();
}

void memory_segments::create(const segment_id& id, const geometry& shape, std::uint64_t /*capacity*/) {
  const bool small_layer = shape.bytes <= huge_at_once_bytes / partitions_.size();
  const auto pages = small_layer ? huge_memory::pages::huge : huge_memory::pages::small;
  auto& list = partitions_[id.partition];
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(place_of(id)),
              {id, huge_memory(shape.bytes, pages), few_keys(shape)});
}

// Before the keys of a batch, which touch most pages of a segment: each small page would be a fault, and a
// copy later.
void memory_segments::expect_keys(const segment_id& id, std::uint64_t keys) noexcept {
  segment& expecting = partitions_[id.partition][place_of(id)];
  if (keys > expecting.few_keys) expecting.bits.gather();
}

std::uint64_t memory_segments::bytes_of(std::uint32_t partition) const noexcept {
  std::uint64_t sum = 0;
  for (const segment& s : partitions_[partition]) sum += s.bits.size();
  return sum;
}

void memory_segments::drop_before(std::uint32_t partition, window::slice_index oldest) {
  std::erase_if(partitions_[partition], [&](const segment& s) { return s.id.slice < oldest; });
}

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
