#include "everseen/core/partition/slice_groups.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/model/partition_doubles.hpp"

namespace everseen {
namespace {

using test::digest_of;
using testing::ElementsAre;

struct timed {
  unsigned key;
  window::slice_index slice;
};

/// Keys and their slices, with the places that a run would assign: 10, 11, ...
struct example {
  explicit example(const std::vector<timed>& stream) : slices(10), out(10 + stream.size(), verdict::unknown) {
    for (const timed& t : stream) {
      places.push_back(static_cast<std::uint16_t>(slices.size()));
      keys.push_back(digest_of(t.key));
      slices.push_back(t.slice);
    }
    groups = std::make_unique<slice_groups>(keys, places.data(), slices);
  }

  /// As in "5: 10 12": the places of each slice.
  [[nodiscard]] std::vector<std::string> sorted() const {
    std::vector<std::string> all;
    groups->for_each([&](const slice_groups::group& g) {
      std::string text = std::to_string(g.slice) + ":";
      for (std::size_t i = 0; i < g.keys.size(); ++i) {
        text += ' ', text += std::to_string(g.places[i]);
        EXPECT_EQ(g.keys[i], keys.at(g.places[i] - 10U));
      }
      all.push_back(text);
    });
    return all;
  }

  std::vector<digest> keys;
  std::vector<std::uint16_t> places;
  std::vector<window::slice_index> slices;  // by place
  std::vector<verdict> out;
  std::unique_ptr<slice_groups> groups;
};

TEST(SliceGroups, KeepTheOrderOfTheKeysOfASlice) {
  EXPECT_THAT(example({{1, 6}, {2, 5}, {3, 6}, {4, -2}, {5, 5}}).sorted(),
              ElementsAre("-2: 13", "5: 11 14", "6: 10 12"));
}

TEST(SliceGroups, HoldEachKeyOnceInTheSliceOfItsFirstOccurrence) {
  EXPECT_THAT(example({{1, 6}, {1, 5}, {2, 5}, {2, 6}, {1, 6}}).sorted(), ElementsAre("5: 12", "6: 10"));
}

TEST(SliceGroups, GiveRepeatsTheAnswerOfTheFirst) {
  example one({{1, 6}, {1, 5}, {2, 5}, {2, 6}, {3, 6}, {3, 5}});
  one.out[10] = verdict::fresh;
  one.out[12] = verdict::seen;
  one.groups->mark_repeats(one.out.data());
  EXPECT_EQ(one.out[11], verdict::seen);
  EXPECT_EQ(one.out[13], verdict::seen);
  EXPECT_EQ(one.out[15], verdict::unknown) << "it is not known whether the first was added";
}

TEST(SliceGroups, HoldAsManyDistinctKeysAsARun) {
  std::vector<timed> all;
  for (unsigned i = 0; i < slice_groups::max_keys - 10; ++i) all.push_back({i, i % 2});
  const example full(all);
  std::size_t keys = 0;
  full.groups->for_each([&](const slice_groups::group& g) { keys += g.keys.size(); });
  EXPECT_EQ(keys, all.size());
}

}  // namespace
}  // namespace everseen
