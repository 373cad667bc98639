// Tests for filters of other systems, in every store. The code of foreign/ runs in parallel: it must give the
// same verdicts and, in the end, the same file. Included after any_store_suite.hpp.

#pragma once

#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>

#include "everseen/core/hash/funnel.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/foreign/guava/guava.hpp"

#include "test/support/model/guava_filter.hpp"
#include "test/support/model/redisbloom_chain.hpp"
#include "test/support/samples/foreign_files.hpp"

namespace everseen::any_store {

using foreign::guava::strategy;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Numbers as text, some of them twice: every funnel accepts them.
inline std::vector<std::string> numbers(int from, int end) {
  std::vector<std::string> all;
  for (int i = from; i < end; ++i) all.push_back(std::to_string((i * 7919) % (end - from / 2)));
  return all;
}

/// Clients that judge do not compare a key with the bits of others in its batch: such a false positive is
/// fresh there. So they get the keys one by one, as the original does.
inline std::vector<verdict> add_all(filter& target, const std::vector<std::string>& keys) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<verdict> verdicts(keys.size());
  const std::size_t batch = judged_by == judge_kind::client ? 1 : keys.size();
  for (std::size_t from = 0; from < keys.size(); from += batch) {
    const batch_result done =
        target.add(std::span(views).subspan(from, batch), std::span(verdicts).subspan(from, batch));
    if (!done) done.error().raise();
  }
  return verdicts;
}

inline std::vector<verdict> put_all(foreign::guava::filter& target, funnel_kind funnel,
                                    const std::vector<std::string>& keys) {
  std::vector<verdict> verdicts;
  std::string element;
  for (const std::string& key : keys) {
    apply_funnel(funnel, key, element);
    verdicts.push_back(target.add(element) ? verdict::fresh : verdict::seen);
  }
  return verdicts;
}

inline std::vector<verdict> add_all(redisbloom::chain& target, const std::vector<std::string>& keys) {
  std::vector<verdict> verdicts;
  for (const std::string& key : keys) verdicts.push_back(target.add(key));
  return verdicts;
}

inline filter opened(store& in, std::string_view name, access mode = access::write) {
  return {std::string(name), in.open(name, mode)};
}

struct guava_kind {
  strategy algorithm;
  funnel_kind funnel;
};

inline constexpr guava_kind guava_kinds[] = {
    {strategy::mitz_32, funnel_kind::bytes}, {strategy::mitz_64, funnel_kind::bytes},
    {strategy::mitz_64, funnel_kind::chars}, {strategy::mitz_64, funnel_kind::int32},
    {strategy::mitz_32, funnel_kind::int64}, {strategy::mitz_64, funnel_kind::int64}};

inline std::string name_of(strategy algorithm, funnel_kind funnel) {
  return std::string(to_string(funnel)) + (algorithm == strategy::mitz_32 ? "32" : "64");
}

// Promise: a filter of Guava continues bit for bit, in every store (foreign-filters, Imported filters).
TEST_P(AnyStore, ContinuesAFilterOfGuavaBitForBit) {
  for (const auto& [algorithm, funnel] : guava_kinds) {
    const std::string name = name_of(algorithm, funnel);
    foreign::guava::filter theirs(foreign::guava::smallest(algorithm, 1'000, 0.01));
    put_all(theirs, funnel, numbers(0, 400));
    import_guava(*store_, name, pipe_of(stream_of(theirs)), {funnel, 1'000});
    filter ours = opened(*store_, name);
    EXPECT_TRUE(exported_guava(ours) == stream_of(theirs));
    EXPECT_EQ(add_all(ours, numbers(200, 2'000)), put_all(theirs, funnel, numbers(200, 2'000)));
    EXPECT_TRUE(exported_guava(ours) == stream_of(theirs)) << name;
  }
}

TEST_P(AnyStore, CreatesTheFilterThatGuavaWouldCreate) {
  for (const auto& [algorithm, funnel] : guava_kinds) {
    const std::string name = name_of(algorithm, funnel);
    const spec planned =
        store_->plan({.capacity = 5'000,
                      .error_rate = 0.001,
                      .layout = algorithm == strategy::mitz_32 ? layout_kind::guava32 : layout_kind::guava64,
                      .funnel = funnel});
    foreign::guava::filter theirs(foreign::guava::smallest(algorithm, 5'000, 0.001));
    filter ours(name, store_->create(name, planned));
    EXPECT_TRUE(exported_guava(ours) == stream_of(theirs));
    EXPECT_EQ(add_all(ours, numbers(0, 3'000)), put_all(theirs, funnel, numbers(0, 3'000)));
    EXPECT_TRUE(exported_guava(ours) == stream_of(theirs)) << name;
  }
}

TEST_P(AnyStore, EstimatesTheKeysOfAFilterOfGuavaFromItsBits) {
  foreign::guava::filter theirs(foreign::guava::smallest(strategy::mitz_64, 20'000, 0.01));
  std::vector<std::string> keys(10'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = std::to_string(i);
  put_all(theirs, funnel_kind::bytes, keys);
  import_guava(*store_, "g", pipe_of(stream_of(theirs)), {});
  const filter_info info = opened(*store_, "g", access::read).info();
  EXPECT_NEAR(static_cast<double>(info.keys), 10'000, 300);
  // According to its file: 191,744 bits and 7 probes, which fewer than 20,000 keys fill to a half.
  EXPECT_EQ(info.spec.capacity, 18'987U);
  EXPECT_NEAR(info.spec.error_rate, 1.0 / 128, 1e-5);
}

// Promise: a chain of RedisBloom continues byte for byte, in every store (foreign-filters, Imported filters).
TEST_P(AnyStore, ContinuesAChainOfRedisBloomByteForByte) {
  redisbloom::chain theirs = redisbloom::chain::reserve({0.01, 100, 2, true});
  add_all(theirs, numbers(0, 250));
  ASSERT_EQ(theirs.layers.size(), 2U);
  import_redisbloom(*store_, "r", pipe_of(commands_of(theirs)));
  filter ours = opened(*store_, "r");
  EXPECT_TRUE(exported_redisbloom(ours) == commands_of(theirs));
  EXPECT_EQ(add_all(ours, numbers(100, 2'000)), add_all(theirs, numbers(100, 2'000)));
  ASSERT_GE(theirs.layers.size(), 5U);
  EXPECT_TRUE(exported_redisbloom(ours) == commands_of(theirs));
}

TEST_P(AnyStore, CreatesTheChainThatRedisBloomWouldReserve) {
  for (const std::uint32_t expansion : {1U, 3U}) {
    const std::string name = "r" + std::to_string(expansion);
    const spec planned = store_->plan(
        {.capacity = 150, .error_rate = 0.001, .layout = layout_kind::redisbloom, .expansion = expansion});
    redisbloom::chain theirs = redisbloom::chain::reserve({0.001, 150, expansion, true});
    filter ours(name, store_->create(name, planned));
    EXPECT_TRUE(exported_redisbloom(ours) == commands_of(theirs));
    EXPECT_EQ(add_all(ours, numbers(0, 700)), add_all(theirs, numbers(0, 700)));
    EXPECT_TRUE(exported_redisbloom(ours) == commands_of(theirs));
  }
}

// Promise: a chain of RedisBloom ends where RedisBloom's own does (foreign-filters, Imported filters).
TEST_P(AnyStore, ContinuesAChainOfManyLayers) {
  const spec planned =
      store_->plan({.capacity = 2, .error_rate = 0.01, .layout = layout_kind::redisbloom, .expansion = 1});
  redisbloom::chain theirs = redisbloom::chain::reserve({0.01, 2, 1, true});
  filter ours("r", store_->create("r", planned));
  for (int i = 0; theirs.layers.size() < 80; ++i) {
    const std::string key = std::to_string(i);
    ASSERT_EQ(ours.add(key), theirs.add(key)) << i;
  }
  EXPECT_TRUE(exported_redisbloom(ours) == commands_of(theirs));
  add_all(theirs, {"a", "b", "c", "d", "e", "f"});
  EXPECT_NO_THROW(import_redisbloom(*store_, "imported", pipe_of(commands_of(theirs))));
}

TEST_P(AnyStore, RefusesKeysLikeAChainThatDoesNotScale) {
  redisbloom::chain theirs = redisbloom::chain::reserve({0.01, 100, 2, false});
  import_redisbloom(*store_, "r", pipe_of(commands_of(theirs)));
  filter ours = opened(*store_, "r");
  for (int i = 0; theirs.keys < 100; ++i)
    EXPECT_EQ(ours.add(std::to_string(i)), theirs.add(std::to_string(i))) << i;
  EXPECT_TRUE(exported_redisbloom(ours) == commands_of(theirs));
  EXPECT_THROW((void)ours.add("one too many"), full_error);
  EXPECT_TRUE(exported_redisbloom(ours) == commands_of(theirs));
}

TEST_P(AnyStore, CopiesAFilterOfAnotherSystemLikeItsOwn) {
  redisbloom::chain theirs = redisbloom::chain::reserve({0.01, 100, 2, true});
  add_all(theirs, numbers(0, 500));
  import_redisbloom(*store_, "r", pipe_of(commands_of(theirs)));
  restore_into(*store_, "copy", *store_->open("r", access::read));
  EXPECT_TRUE(exported_redisbloom(opened(*store_, "copy")) == commands_of(theirs));
}

}  // namespace everseen::any_store
