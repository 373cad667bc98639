// A union of filters: all keys of siblings in one of them, within its error rate.

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/open_store.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/support/binomial.hpp"
#include "test/support/random_digests.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::uint64_t add(filter& f, std::span<const digest> keys) {
  std::vector<verdict> out(keys.size());
  const batch_result added = f.add_digests(keys, out);
  EXPECT_TRUE(added);
  return added ? added->fresh : 0;
}

std::uint64_t seen_of(const filter& f, std::span<const digest> keys) {
  std::vector<verdict> out(keys.size());
  return f.may_contain_digests(keys, out)->seen;
}

void merge(filter& into, const filter& sibling) {
  into.merge(std::span(&sibling, 1));
}

filter sibling_in(store& place, const std::string& name, const filter& like) {
  return {name, place.create(name, like.sibling_spec())};
}

// Promise: merged siblings have all keys of both and keep their error rate (guarantees, Error rate).
TEST(Merge, UnionHasTheKeysOfAllAndKeepsItsErrorRate) {
  constexpr std::size_t keys_of_each = 30'000, strangers = 300'000;
  for (const double rate : {1e-2, 1e-4}) {
    for (const std::uint32_t partitions : {1U, 7U}) {
      memory_store place;
      filter all = open_or_create(place, "all",
                                  {.capacity = 4 * keys_of_each,
                                   .error_rate = rate,
                                   .seed = hash_seed{1, 2, 3},
                                   .partitions = partitions});
      test::random_digests source(7);
      for (const std::string name : {"a", "b", "c", "d"}) {
        filter part = sibling_in(place, name, all);
        const std::vector<digest> keys = source.take(keys_of_each);
        add(part, keys);
        merge(all, part);
        EXPECT_EQ(seen_of(all, keys), keys_of_each);
      }
      const std::uint64_t wrong = seen_of(all, source.take(strangers));
      EXPECT_LE(wrong, test::binomial_bound(strangers, rate));
      const filter_info info = all.info();
      EXPECT_LE(info.error_rate_now, rate);
      EXPECT_GE(wrong, test::binomial_floor(strangers, info.error_rate_now));
      EXPECT_NEAR(static_cast<double>(info.keys), 4.0 * keys_of_each, 0.01 * 4 * keys_of_each);
      EXPECT_EQ(info.max_layers, 1U);
    }
  }
}

TEST(Merge, SiblingsThatAreTooFullForOneFilterAreRefusedByName) {
  memory_store place;
  filter all = open_or_create(place, "all", {.capacity = 10'000, .partitions = 4});
  filter part = sibling_in(place, "part", all);
  test::random_digests source(3);
  const std::vector<digest> mine = source.take(8000), theirs = source.take(8000);
  add(all, mine);
  add(part, theirs);
  EXPECT_THAT([&] { merge(all, part); },
              ThrowsMessage<full_error>(
                  AllOf(HasSubstr("do not fit into 'all'"), HasSubstr("keys instead of at most"))));
  EXPECT_EQ(seen_of(all, theirs), 0U) << "something was added";
}

TEST(Merge, SeveralSiblingsAreMergedTogetherOrNotAtAll) {
  memory_store place;
  filter all = open_or_create(place, "all", {.capacity = 10'000, .partitions = 4});
  test::random_digests source(9);
  std::vector<filter> parts;
  std::vector<digest> keys;
  for (const std::string name : {"a", "b", "c"}) {
    parts.push_back(sibling_in(place, name, all));
    const std::vector<digest> some = source.take(4000);
    add(parts.back(), some);
    keys.insert(keys.end(), some.begin(), some.end());
  }
  EXPECT_THROW(all.merge(parts), full_error);
  EXPECT_EQ(all.info().keys, 0U);
  all.merge(std::span(parts).first(2));
  EXPECT_EQ(seen_of(all, std::span(keys).first(8000)), 8000U);
  EXPECT_EQ(seen_of(all, std::span(keys).subspan(8000)), 0U);
}

TEST(Merge, OthersOfTheSameOptionsAreNoSiblings) {
  memory_store place;
  filter one = open_or_create(place, "one"), other = open_or_create(place, "other");
  EXPECT_THAT([&] { merge(one, other); },
              ThrowsMessage<parameter_error>(HasSubstr("differ in their secret seed")));
}

TEST(Merge, SiblingThatAsksAnOlderFilterFirstIsRefused) {
  const test::scratch_directory scratch;
  const auto place = open_store("file:" + scratch.path().string());
  filter all = open_or_create(*place, "all");
  (void)place->create("older", make_spec({}));
  (void)place->create("newer", all.sibling_spec());
  place->link("older", "newer", {});
  const filter newer = open(*place, "newer", access::read);
  EXPECT_THAT([&] { merge(all, newer); },
              ThrowsMessage<parameter_error>(HasSubstr("'newer' asks 'older' first")));
}

TEST(Merge, FilterIntoItselfChangesNothing) {
  memory_store place;
  filter one = open_or_create(place, "one", {.capacity = 1000});
  add(one, test::random_digests(1).take(1000));
  const std::vector<partition_state> before = one.info().partitions;
  merge(one, one);
  EXPECT_EQ(one.info().partitions, before);
}

TEST(Merge, WhatIsMergedIntoFilesIsThereAfterwards) {
  const test::scratch_directory scratch;
  const std::string url = "file:" + scratch.path().string() + "?sync=always";
  memory_store memory;
  const std::vector<digest> keys = test::random_digests(5).take(5000);
  {
    filter kept = open_or_create(url, "kept", {.capacity = 10'000});
    filter part = sibling_in(memory, "part", kept);
    add(part, keys);
    merge(kept, part);
  }
  const filter again = open(url, "kept", access::read);
  EXPECT_EQ(seen_of(again, keys), keys.size());
  EXPECT_NEAR(static_cast<double>(again.info().keys), 5000, 5);
}

TEST(Merge, FilterThatWasOpenedForReadingTakesNothing) {
  const test::scratch_directory scratch;
  const std::string url = "file:" + scratch.path().string();
  (void)open_or_create(url, "kept");
  filter reader = open(url, "kept", access::read);
  EXPECT_THAT([&] { merge(reader, reader); },
              ThrowsMessage<parameter_error>(HasSubstr("opened for reading")));
}

TEST(Merge, KeysAddedMeanwhileAreKept) {
  memory_store place;
  filter all = open_or_create(place, "all", {.capacity = 200'000, .partitions = 8});
  filter part = sibling_in(place, "part", all);
  test::random_digests source(11);
  const std::vector<digest> mine = source.take(50'000), theirs = source.take(50'000),
                            later = source.take(50'000);
  add(part, theirs);
  std::thread adder([&] {
    for (std::size_t i = 0; i < mine.size(); i += 500) add(all, std::span(mine).subspan(i, 500));
  });
  std::thread adder_to_sibling([&] {
    for (std::size_t i = 0; i < later.size(); i += 500) add(part, std::span(later).subspan(i, 500));
  });
  for (int i = 0; i < 5; ++i) merge(all, part);
  adder.join();
  adder_to_sibling.join();
  merge(all, part);
  EXPECT_EQ(seen_of(all, mine), mine.size());
  EXPECT_EQ(seen_of(all, theirs), theirs.size());
  EXPECT_EQ(seen_of(all, later), later.size());
}

}  // namespace
}  // namespace everseen
