#include "everseen/filter/filter.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/open_store.hpp"
#include "everseen/store/memory/memory_store.hpp"
#include "everseen/store/port/batch_results.hpp"

#include "test/support/model/exact_partition.hpp"
#include "test/support/printing.hpp"
#include "test/support/random_digests.hpp"

namespace everseen {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using enum verdict;

/// More keys than a filter hashes and sorts together.
constexpr std::size_t many = 50'000;

filter make_filter(const spec& s) {
  return {"f", memory_store().create("f", s)};
}
filter make_filter(std::uint64_t capacity = 1000, growth_kind growth = growth_kind::grow,
                   std::uint32_t partitions = 3) {
  return make_filter(test::errorless(capacity, growth, {}, partitions));
}
filter make_windowed_filter() {
  return make_filter(
      test::errorless(1000, growth_kind::grow, window_spec{std::chrono::milliseconds(400), 4}, 3));
}

struct many_keys {
  explicit many_keys(std::size_t n, std::size_t distinct) {
    for (std::size_t i = 0; i < distinct; ++i) texts.push_back("key " + std::to_string(i));
    for (std::size_t i = 0; i < n; ++i) keys.push_back(texts[i % distinct]);
  }
  std::vector<std::string> texts;
  std::vector<std::string_view> keys;
};

std::vector<verdict> add(filter& f, const std::vector<std::string_view>& keys,
                         const std::vector<event_time>& times = {}) {
  std::vector<verdict> out(keys.size(), unknown);
  const batch_result result = f.add(keys, out, times);
  EXPECT_TRUE(result);
  return out;
}

TEST(Filter, AnswersSingleKeys) {
  filter f = make_filter();
  EXPECT_FALSE(f.may_contain("a"));
  EXPECT_EQ(f.add("a"), fresh);
  EXPECT_EQ(f.add("a"), seen);
  EXPECT_TRUE(f.may_contain("a"));
  EXPECT_FALSE(f.may_contain("b"));
}

TEST(Filter, AnswersSpans) {
  filter f = make_filter();
  EXPECT_THAT(add(f, {"a", "b", "a"}), ElementsAre(fresh, fresh, seen));
  const std::vector<std::string_view> keys = {"a", "c"};
  std::vector<verdict> out(2);
  const auto result = f.may_contain(keys, out);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, (tally{.fresh = 1, .seen = 1}));
  EXPECT_THAT(out, ElementsAre(seen, fresh));
  EXPECT_FALSE(f.may_contain("c")) << "look-ups add nothing";
}

TEST(Filter, AnswersEmptySpans) {
  filter f = make_filter();
  EXPECT_EQ(f.add(std::span<const std::string_view>{}, {}).value(), tally{});
  EXPECT_EQ(f.may_contain(std::span<const std::string_view>{}, {}).value(), tally{});
  EXPECT_EQ(f.add_digests({}, {}).value(), tally{});
  EXPECT_EQ(make_windowed_filter().add(std::span<const std::string_view>{}, {}).value(), tally{});
}

TEST(Filter, RequiresAVerdictForEachKey) {
  filter f = make_filter();
  const std::vector<std::string_view> keys = {"a", "b", "c"};
  const std::vector<digest> digests(3);
  std::vector<verdict> two(2);
  std::vector<verdict> four(4);
  EXPECT_THROW((void)f.add(keys, two), parameter_error);
  EXPECT_THROW((void)f.may_contain(keys, four), parameter_error);
  EXPECT_THROW((void)f.add_digests(digests, four), parameter_error);
  EXPECT_EQ(f.info().keys, 0u);
}

// Promise: a long span of keys is answered in order (guarantees, Batches and threads).
TEST(Filter, AnswersSpansLongerThanAChunkInOrder) {
  for (const std::uint32_t partitions : {1U, 7U}) {
    filter f = make_filter(1000, growth_kind::grow, partitions);
    const many_keys some(many, many / 2);
    const auto out = add(f, some.keys);
    for (std::size_t i = 0; i < many; ++i) ASSERT_EQ(out[i], i < many / 2 ? fresh : seen) << i;
  }
}

TEST(Filter, AnswersDigestsLikeKeys) {
  filter f = make_filter();
  ASSERT_EQ(f.add("a"), fresh);
  const std::vector<digest> digests = {f.hash()("a"), f.hash()("b"), f.hash()("b")};
  std::vector<verdict> out(3);
  EXPECT_EQ(f.may_contain_digests(digests, out).value(), (tally{.fresh = 2, .seen = 1}));
  EXPECT_EQ(f.add_digests(digests, out).value(), (tally{.fresh = 1, .seen = 2}));
  EXPECT_THAT(out, ElementsAre(seen, fresh, seen));
  EXPECT_TRUE(f.may_contain("b"));
}

// Promise: a key may have any bytes (dedup, Keys and records).
TEST(Filter, AcceptsAnyBytesAsAKey) {
  for (const hash_facts& hash : all_hashes) {
    if (!hash.is_own) continue;
    spec s = test::errorless(2000);
    s.hash = hash.kind;
    filter f = make_filter(s);
    std::set<std::string> keys = {"", std::string(1'000'000, 'x'), std::string(1'000'001, 'x')};
    for (int a = 0; a < 256; ++a) {
      keys.insert(std::string(1, static_cast<char>(a)));
      keys.insert(std::string(2, static_cast<char>(a)));
      keys.insert(std::string("\0", 1) + static_cast<char>(a));
    }
    for (std::size_t length = 1; length <= 300; ++length) keys.insert(std::string(length, 'y'));
    for (const std::string& key : keys) ASSERT_EQ(f.add(key), fresh) << key.size() << " bytes";
    for (const std::string& key : keys) ASSERT_EQ(f.add(key), seen) << key.size() << " bytes";
    EXPECT_EQ(f.info().keys, keys.size());
  }
}

// Promise: keys are compared byte by byte (dedup, Keys and records).
TEST(Filter, ComparesKeysByteByByte) {
  filter f = make_filter();
  EXPECT_EQ(f.add("key"), fresh);
  for (const std::string_view other : {"Key", "key ", "key\r", "key\n", " key", "ke"})
    EXPECT_EQ(f.add(other), fresh) << other;
  EXPECT_EQ(f.add(std::string_view("key\0", 4)), fresh);
}

// Promise: the number of partitions changes no verdict without a window (guarantees, Batches and threads).
TEST(Filter, GivesTheSameVerdictsWithAnyNumberOfPartitions) {
  const many_keys some(many, 9'000);
  filter one = make_filter(500, growth_kind::grow, 1);
  const auto expected = add(one, some.keys);
  for (const std::uint32_t partitions : {2U, 7U, 64U, 5000U}) {
    filter f = make_filter(500, growth_kind::grow, partitions);
    EXPECT_EQ(add(f, some.keys), expected) << partitions;
    EXPECT_EQ(f.info().keys, 9'000U);
  }
}

TEST(Filter, IsOneFilterInAllItsHandles) {
  filter f = make_filter();
  filter copy = f;
  EXPECT_EQ(f.add("a"), fresh);
  EXPECT_EQ(copy.add("a"), seen);
}

// ---- times

TEST(Filter, RequiresATimeWhereThereIsAWindow) {
  filter f = make_windowed_filter();
  const std::vector<std::string_view> keys = {"a", "b", "c"};
  std::vector<verdict> out(3);
  const std::vector<event_time> two(2);
  EXPECT_THROW(f.add("a"), parameter_error);
  EXPECT_THROW(static_cast<void>(f.may_contain("a")), parameter_error);
  EXPECT_THROW((void)f.add(keys, out), parameter_error);
  EXPECT_THROW((void)f.add(keys, out, two), parameter_error);
  EXPECT_THROW((void)f.may_contain(keys, out, two), parameter_error);
  EXPECT_THROW((void)make_filter().add(keys, out, two), parameter_error);
  EXPECT_EQ(f.info().keys, 0U);
}

TEST(Filter, AcceptsOneTimeForAllKeysOrOneForEach) {
  filter f = make_windowed_filter();
  EXPECT_THAT(add(f, {"a", "b"}, {test::at_ms(0)}), ElementsAre(fresh, fresh));
  EXPECT_THAT(add(f, {"a", "b", "a"}, {test::at_ms(400), test::at_ms(500), test::at_ms(500)}),
              ElementsAre(seen, testing::_, testing::_));
  EXPECT_EQ(f.add("z", test::at_ms(0)), fresh) << "its partition may not have moved on";
}

TEST(Filter, KeepsTimesWithTheirKeysThroughPartitionsAndChunks) {
  const spec s = test::errorless(1000, growth_kind::grow, window_spec{std::chrono::milliseconds(400), 4}, 7);
  filter f = make_filter(s);
  std::vector<test::exact_partition> model(7, test::exact_partition(s));
  const many_keys some(many, 3'001);
  std::vector<event_time> times;
  for (std::size_t i = 0; i < many; ++i) times.push_back(test::at_ms(static_cast<std::int64_t>(i / 20)));
  const auto out = add(f, some.keys, times);
  for (std::size_t i = 0; i < many; ++i) {
    const std::uint32_t p = partition_of(f.hash()(some.keys[i]), 7);
    ASSERT_EQ(out[i], model[p].add({static_cast<unsigned>(i % 3'001), static_cast<std::int64_t>(i / 20)}))
        << i;
  }
}

TEST(Filter, IgnoresTimesWithoutAWindow) {
  filter f = make_filter();
  EXPECT_EQ(f.add("a", test::at_ms(5)), fresh);
  EXPECT_EQ(f.add("a", test::at_ms(1'000'000'000)), seen);
  EXPECT_TRUE(f.may_contain("a", test::at_ms(-5)));
}

TEST(Filter, DoesNotContainKeysOlderThanTheWindow) {
  filter f = make_windowed_filter();
  EXPECT_EQ(f.add("a", test::at_ms(1000)), fresh);
  EXPECT_TRUE(f.may_contain("a", test::at_ms(1000)));
  EXPECT_EQ(f.add("a", test::at_ms(0)), verdict::late);
  EXPECT_FALSE(f.may_contain("a", test::at_ms(0)));
}

// ---- failures

TEST(Filter, RefusesASingleKeyWhenItIsFull) {
  filter f = make_filter(1, growth_kind::refuse, 1);
  EXPECT_EQ(f.add("a"), fresh);
  EXPECT_THROW(f.add("b"), full_error);
  EXPECT_EQ(f.add("a"), seen);
  EXPECT_FALSE(f.may_contain("b"));
}

// Promise: in a full filter exactly the keys that need room are unknown (guarantees, Failures).
TEST(Filter, JudgesEveryChunkOfAFullFilter) {
  filter f = make_filter(20'000, growth_kind::refuse, 1);
  const many_keys some(many, many / 2);
  std::vector<verdict> out(many);
  const batch_result result = f.add(some.keys, out);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().why, batch_failure::cause::full);
  EXPECT_EQ(result.error().done, (tally{.fresh = 20'000, .seen = 20'000, .unknown = 10'000}));
  for (std::size_t i = 0; i < many; ++i)
    ASSERT_EQ(out[i], i % (many / 2) >= 20'000 ? unknown : i < many / 2 ? fresh : seen) << i;
}

// ---- keys that the filter cannot accept

filter make_filter_of_numbers() {
  return make_filter(
      make_spec({.capacity = 2 * many, .layout = layout_kind::guava64, .funnel = funnel_kind::int64}));
}

/// Numbers, each twice, and a word at each of the given places.
struct numbers_and_words {
  explicit numbers_and_words(std::initializer_list<std::size_t> places) {
    for (std::size_t i = 0; i < many; ++i) texts.push_back(std::to_string(i % (many / 2)));
    for (const std::size_t place : places) texts[place] = "oops";
    keys.assign(texts.begin(), texts.end());
  }
  std::vector<std::string> texts;
  std::vector<std::string_view> keys;
};

// Promise: a key that the filter can never take is unknown, and all others are judged (guarantees, Failures).
TEST(Filter, KeyThatItCannotAcceptIsUnknownAndAllOthersAreJudged) {
  filter f = make_filter_of_numbers();
  const numbers_and_words some{0, 20'000, many - 1};  // in the first, the second and the last chunk
  std::vector<verdict> out(many);
  const batch_result result = f.add(some.keys, out);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().why, batch_failure::cause::key);
  EXPECT_THAT(result.error().message, HasSubstr("'oops' is not a whole number of 64 bits"));
  EXPECT_EQ(result.error().done.unknown, 3U);
  EXPECT_EQ(result.error().done.keys(), many);
  // A number whose first place holds a word is fresh at its second place.
  for (std::size_t i = 0; i < many; ++i)
    ASSERT_EQ(out[i], some.keys[i] == "oops"                                    ? unknown
                      : i < many / 2 || i == many / 2 || i == many / 2 + 20'000 ? fresh
                                                                                : seen)
        << i;
  const batch_result asked = f.may_contain(some.keys, out);
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().done, (tally{.seen = many - 3, .unknown = 3}));
}

TEST(Filter, BatchOfUnacceptableKeysOnlyChangesNothing) {
  filter f = make_filter_of_numbers();
  const std::vector<std::string_view> words = {"a", "b", ""};
  std::vector<verdict> out(words.size(), fresh);
  const batch_result result = f.add(words, out);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().done, (tally{.unknown = 3}));
  EXPECT_THAT(out, Each(unknown));
  EXPECT_EQ(f.info().segments, 0U);
}

TEST(Filter, ReportsWhichKeysItCannotAccept) {
  EXPECT_THAT(make_filter_of_numbers().refusal_of("x7"), testing::Optional(HasSubstr("'x7'")));
  EXPECT_EQ(make_filter_of_numbers().refusal_of("7"), std::nullopt);
  EXPECT_EQ(make_filter().refusal_of("x7"), std::nullopt);
  EXPECT_THROW(make_filter_of_numbers().add("x7"), parameter_error);
}

/// Its n-th add fails without an answer.
class failing_filter : public stored_filter {
 public:
  failing_filter(std::shared_ptr<stored_filter> real, int fails_in)
      : real_(std::move(real)), left_(fails_in) {}

  [[nodiscard]] const spec& get_spec() const noexcept override { return real_->get_spec(); }
  batch_result add(std::span<const partition_batch> batches) override {
    if (--left_ == 0) return unanswered(batches, batch_failure::cause::storage, "the disk is gone");
    return real_->add(batches);
  }
  batch_result check(std::span<const partition_batch> batches) const override {
    return real_->check(batches);
  }
  [[nodiscard]] partition_state state(std::uint32_t partition) const override {
    return real_->state(partition);
  }
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override {
    real_->visit_segments(partition, visit);
  }
  void sync() override {}

 private:
  std::shared_ptr<stored_filter> real_;
  int left_;
};

// Promise: after a failure the rest of a long batch is unknown, so that a retry is right (guarantees,
// Failures).
TEST(Filter, LeavesTheRestUnknownAfterAFailureSoThatARetryIsRight) {
  const many_keys some(many, 20'000);  // keys of the second chunk occur again in the third
  filter undisturbed = make_filter();
  const auto expected = add(undisturbed, some.keys);

  filter f("f", std::make_shared<failing_filter>(
                    memory_store().create("f", test::errorless(1000, growth_kind::grow, {}, 3)), 2));
  std::vector<verdict> out(many, fresh);
  const batch_result result = f.add(some.keys, out);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().why, batch_failure::cause::storage);
  EXPECT_EQ(result.error().message, "the disk is gone");

  const auto first_unknown = std::find(out.begin(), out.end(), unknown);
  EXPECT_THAT(std::vector<verdict>(first_unknown, out.end()), Each(unknown));
  const auto answered = static_cast<std::size_t>(first_unknown - out.begin());
  EXPECT_GT(answered, 0U);
  EXPECT_EQ(result.error().done.keys(), many);
  EXPECT_EQ(result.error().done.unknown, many - answered);

  std::vector<verdict> again(many - answered);
  ASSERT_TRUE(f.add(std::span(some.keys).subspan(answered), again));
  std::copy(again.begin(), again.end(), first_unknown);
  EXPECT_EQ(out, expected);
}

TEST(Filter, OutageTakesPrecedenceOverAnUnacceptableKey) {
  const spec s = make_filter_of_numbers().get_spec();
  filter f("f", std::make_shared<failing_filter>(memory_store().create("f", s), 2));
  const numbers_and_words some{1};
  std::vector<verdict> out(many);
  const batch_result result = f.add(some.keys, out);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().why, batch_failure::cause::storage);
  EXPECT_EQ(result.error().done.keys(), many);
  EXPECT_EQ(out[0], fresh);
  EXPECT_EQ(out[1], unknown);
  EXPECT_EQ(out[many - 1], unknown);
}

TEST(Filter, ThrowsTheErrorOfASingleKey) {
  filter f("f", std::make_shared<failing_filter>(memory_store().create("f", test::errorless(10)), 1));
  EXPECT_THROW(f.add("a"), storage_error);
  EXPECT_EQ(f.add("a"), fresh) << "retrying is safe";
}

// ---- times ahead of the clock

// Promise: one time more than one slice ahead of the clock is an error and changes nothing (dedup, Times in
// the future).
TEST(Filter, RefusesTimesFurtherAheadOfTheClockThanASlice) {
  const auto ten_minutes = window_spec{std::chrono::minutes(10)};
  filter f = create("mem:", "f", {.capacity = 1000, .window = ten_minutes});
  const event_time today = wall_clock();
  const std::array times = {today, today + std::chrono::minutes(2)};
  const std::array<std::string_view, 2> keys = {"a", "b"};
  std::array<verdict, 2> out{};
  EXPECT_THROW((void)f.add(keys, out, times), parameter_error);
  EXPECT_THROW((void)f.may_contain(keys, out, times), parameter_error);
  const std::array<digest, 2> digests = {f.hash()("a"), f.hash()("b")};
  EXPECT_THROW((void)f.add_digests(digests, out, times), parameter_error);
  EXPECT_THROW((void)f.may_contain_digests(digests, out, times), parameter_error);
  EXPECT_THROW((void)f.add("a", event_time::max()), parameter_error);
  EXPECT_THROW((void)f.may_contain("a", times[1]), parameter_error);
  EXPECT_EQ(f.info().keys, 0U) << "not even the keys of today are added";
  EXPECT_EQ(f.add("a", today), fresh);
  EXPECT_EQ(f.add("b", today + std::chrono::seconds(59)), fresh) << "within a slice";
  EXPECT_EQ(f.add("a", today), seen) << "which does not make the present late";
}

TEST(Filter, FollowsAClockOfItsOwner) {
  memory_store place;
  const event_time start{};
  filter f("f", place.create("f", place.plan({.window = window_spec{std::chrono::seconds(10)}})),
           [start] { return start; });
  EXPECT_EQ(f.add("a", start + std::chrono::seconds(10)), fresh);
  EXPECT_THROW((void)f.add("a", start + std::chrono::seconds(11)), parameter_error);
}

TEST(Filter, WithoutAWindowTakesAnyTime) {
  filter f = create("mem:", "f", {.capacity = 1000});
  EXPECT_EQ(f.add("a", event_time::max()), fresh);
}

// ---- reports

TEST(Filter, ReportsItsSpecAndState) {
  filter f = make_filter(100, growth_kind::grow, 3);
  const filter_info empty = f.info();
  EXPECT_EQ(empty.name, "f");
  EXPECT_EQ(empty.spec, f.get_spec());
  EXPECT_EQ(empty.keys, 0U);
  EXPECT_EQ(empty.bytes, 0U);
  EXPECT_EQ(empty.partitions.size(), 3U);

  const many_keys some(1000, 1000);
  add(f, some.keys);
  const filter_info info = f.info();
  EXPECT_EQ(info.keys, 1000U);
  std::uint64_t bytes = 0;
  std::uint64_t segments = 0;
  for (const partition_state& p : info.partitions)
    for (const slice_state& slice : p.slices)
      for (const layer_state& layer : slice.layers) {
        bytes += layer.shape.bytes;
        ++segments;
      }
  EXPECT_EQ(info.bytes, bytes);
  EXPECT_EQ(info.segments, segments);
  EXPECT_GE(info.max_layers, 3U);
  EXPECT_GT(info.error_rate_now, 0);
  EXPECT_LE(info.error_rate_now, info.spec.error_rate);
}

// ---- create and open

TEST(Filter, IsCreatedInAStore) {
  filter f = create("mem:", "clicks", {.capacity = 1000, .error_rate = 1e-3});
  EXPECT_EQ(f.name(), "clicks");
  EXPECT_EQ(f.get_spec().capacity, 1000U);
  EXPECT_EQ(f.add("a"), fresh);
}

TEST(Filter, ReportsErrorsOfARequest) {
  const auto message = [](auto call) {
    try {
      call();
    } catch (const parameter_error& e) {
      return std::string(e.what());
    }
    return std::string("no parameter_error");
  };
  EXPECT_THAT(message([] { static_cast<void>(create("mem:", "f", {.capacity = 0})); }),
              HasSubstr("capacity 0"));
  EXPECT_THAT(message([] { static_cast<void>(create("mem:", "f", {.error_rate = 0})); }),
              HasSubstr("error_rate 0"));
  EXPECT_THAT(message([] { static_cast<void>(create("mem:", "")); }), HasSubstr("name"));
  EXPECT_THAT(message([] { static_cast<void>(create("ftp:x", "f")); }), HasSubstr("'ftp' is not a store"));
  EXPECT_THAT(message([] { static_cast<void>(open("mem:", "none")); }), HasSubstr("'none'"));
}

}  // namespace
}  // namespace everseen
