#include "everseen/core/kernel/first_touch.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/kernel/kernels.hpp"

#include "test/support/random_digests.hpp"
#include "test/support/small_pages.hpp"

namespace everseen {
namespace {

using test::random_digests;
using test::small_pages;

class FirstTouch : public testing::TestWithParam<layout_kind> {
 protected:
  const geometry shape_{GetParam(), static_cast<std::uint16_t>(probes_of(GetParam(), 7)),
                        std::uint64_t{1} << 20};
  random_digests random_{5};
};

TEST_P(FirstTouch, IsOneFaultForEachPageThatKeysTouch) {
  if (!test::can_write_first()) GTEST_SKIP() << "in this build";
  small_pages segment(shape_.bytes);
  std::vector<verdict> out(50);
  std::uint64_t keys = 0;
  const std::int64_t before = test::page_faults();
  for (; has_untouched_pages(shape_, keys); keys += out.size()) {
    const std::vector<digest> some = random_.take(out.size());
    write_first(segment.data(), shape_, some);
    best_kernel().add(segment.data(), shape_, some, out.data());
  }
  const std::int64_t faults = test::page_faults() - before;
  EXPECT_GE(keys * touched_lines(shape_), 2 * segment.pages());
  EXPECT_LE(faults, static_cast<std::int64_t>(segment.pages()) + 8) << "a few are the test's own";
}

TEST_P(FirstTouch, ChangesNoBit) {
  small_pages segment(shape_.bytes);
  std::vector<verdict> out(5'000);
  best_kernel().add(segment.data(), shape_, random_.take(out.size()), out.data());
  const std::vector<std::byte> before(segment.data(), segment.data() + shape_.bytes);
  write_first(segment.data(), shape_, random_.take(5'000));
  EXPECT_TRUE(std::equal(before.begin(), before.end(), segment.data()));
}

TEST_P(FirstTouch, TouchesNoPageWithoutAKey) {
  small_pages segment(shape_.bytes);
  const std::vector<digest> few = random_.take(3);
  write_first(segment.data(), shape_, few);
  EXPECT_LE(segment.touched(), few.size() * touched_lines(shape_));
}

std::string name_of(const testing::TestParamInfo<layout_kind>& each) {
  std::string name(to_string(each.param));
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(OfOwnLayouts, FirstTouch, testing::ValuesIn(all_layouts), name_of);
INSTANTIATE_TEST_SUITE_P(OfForeignLayouts, FirstTouch, testing::ValuesIn(foreign_layouts), name_of);

}  // namespace
}  // namespace everseen
