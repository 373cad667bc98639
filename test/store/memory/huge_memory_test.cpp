#include "everseen/store/memory/huge_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/support/huge_pages.hpp"

namespace everseen {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

bool is_zero(const std::byte* bytes, std::size_t count) {
  return std::all_of(bytes, bytes + count, [](std::byte b) { return b == std::byte{0}; });
}

TEST(HugeMemory, IsZeroedAndAlignedWhateverItsSize) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, 128 * mib / 1024, 2 * mib, 5 * mib + 64})
    for (const auto pages : {huge_memory::pages::huge, huge_memory::pages::small}) {
      const huge_memory memory(bytes, pages);
      EXPECT_EQ(memory.size(), bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0U) << bytes;
      EXPECT_TRUE(is_zero(memory.data(), bytes)) << bytes;
    }
}

TEST(HugeMemory, KeepsItsBytesWhenItsPagesAreGathered) {
  huge_memory memory(70 * mib, huge_memory::pages::small);
  for (std::size_t offset = 0; offset < memory.size(); offset += 50'000) memory.data()[offset] = std::byte{7};
  for (int more_often_than_needed = 0; more_often_than_needed < 5; ++more_often_than_needed) memory.gather();
  for (std::size_t offset = 0; offset < memory.size(); ++offset)
    ASSERT_EQ(memory.data()[offset], offset % 50'000 == 0 ? std::byte{7} : std::byte{0}) << offset;
}

// The kernel may find no free huge page now and then, hence half.
TEST(HugeMemory, ConsistsOfHugePagesWhereTheKernelHasThem) {
  const huge_memory memory(200 * mib);
  for (std::size_t offset = 0; offset < memory.size(); offset += 2 * mib)
    memory.data()[offset] = std::byte{1};
  EXPECT_GE(test::huge_kib_at(memory.data()), test::kernel_has_huge_pages() ? 100 * mib / 1024 : 0);
}

TEST(HugeMemory, TakesLittleUntilItsPagesAreGatheredAndThenHugePages) {
  huge_memory memory(200 * mib, huge_memory::pages::small);
  for (std::size_t offset = 0; offset < memory.size(); offset += 2 * mib)
    memory.data()[offset] = std::byte{1};
  EXPECT_EQ(test::huge_kib_at(memory.data()), 0U);
  for (int i = 0; i < 10; ++i) memory.gather();
  if (!test::kernel_gathers_on_request()) return;
  EXPECT_GE(test::huge_kib_at(memory.data()), test::kernel_has_huge_pages() ? 100 * mib / 1024 : 0);
}

TEST(HugeMemory, CanBeMoved) {
  huge_memory first(3 * mib);
  first.data()[0] = std::byte{1};
  const std::byte* const place = first.data();
  const huge_memory second = std::move(first);
  EXPECT_EQ(second.data(), place);
  EXPECT_EQ(second.data()[0], std::byte{1});
}

TEST(HugeMemory, ReportsThatThereIsNotEnoughMemory) {
  EXPECT_THROW(huge_memory(std::size_t{1} << 60), storage_error);
}

}  // namespace
}  // namespace everseen
