#include "everseen/core/spec/spec.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

template <typename Function>
std::string parameter_error_of(Function f) {
  try {
    f();
  } catch (const parameter_error& e) {
    return e.what();
  }
  return "none";
}

std::string complaint(const spec_request& request) {
  return parameter_error_of([&] { static_cast<void>(make_spec(request)); });
}

std::string error_about(const spec& s) {
  return parameter_error_of([&] { validate(s); });
}

TEST(Spec, PlannerCompletesAPartialRequest) {
  const spec s = make_spec({.capacity = 10'000'000, .error_rate = 1e-6});
  EXPECT_EQ(s.layout, layout_kind::two_line_8x64);
  EXPECT_EQ(s.probes, 16);
  EXPECT_EQ(s.hash, hash_kind::xxh3);
  EXPECT_EQ(s.growth, growth_kind::grow);
  EXPECT_FALSE(s.window);
  EXPECT_NO_THROW(validate(s));
}

TEST(Spec, ASeedIsRandomUnlessGiven) {
  EXPECT_NE(make_spec({}).seed, make_spec({}).seed);
  EXPECT_EQ(make_spec({.seed = hash_seed{1, 2, 3}}).seed, (hash_seed{1, 2, 3}));
}

TEST(Spec, AWindowIsWrittenAsADuration) {
  EXPECT_EQ(make_spec({.window = window_spec{10min}}).window, (window_spec{600'000ms, 10}));
  EXPECT_EQ(make_spec({.window = window_spec{24h, 24}}).window->slice_width(), 1h);
}

TEST(Spec, ClassicFilterUsesTheBestProbesUnlessSpecified) {
  EXPECT_EQ(make_spec({.error_rate = 0.01, .layout = layout_kind::classic}).probes, 7);
  EXPECT_EQ(make_spec({.error_rate = 0.01, .layout = layout_kind::classic, .probes = 3}).probes, 3);
}

TEST(Spec, SmallFiltersHaveOnePartitionAndLargeOnesSegmentsOfFourToEightMebibytes) {
  for (const std::uint64_t capacity : {1U, 1'000U, 1'000'000U})
    EXPECT_EQ(make_spec({.capacity = capacity}).partitions, 1U);
  for (std::uint64_t capacity = 2'200'000; capacity < 100'000'000; capacity += capacity / 10) {
    const spec s = make_spec({.capacity = capacity});
    const double mebibytes = static_cast<double>(growth::plan_layer(s, 0).shape.bytes) / 0x1p20;
    EXPECT_GE(mebibytes, 4) << capacity;
    EXPECT_LT(mebibytes, 8.1) << capacity;  // plus the margin of partitions
    EXPECT_EQ(s.partitions & (s.partitions - 1), 0U);
  }
  EXPECT_EQ(make_spec({.capacity = 10'000'000'000}).partitions, 64U);
  EXPECT_EQ(make_spec({.capacity = 10'000'000'000, .partitions = 5'000}).partitions, 5'000U);
}

TEST(Spec, PartitionsFollowTheSizeOfASliceNotOfTheWindow) {
  EXPECT_GT(make_spec({.capacity = 50'000'000}).partitions, 1U);
  EXPECT_EQ(make_spec({.capacity = 50'000'000, .window = window_spec{600s, 100}}).partitions, 1U);
}

TEST(Spec, RefusesNumbersOutOfRangeAndNamesThemWithAdvice) {
  EXPECT_THAT(complaint({.capacity = 0}), HasSubstr("capacity 0 is not within 1 to 281474976710656"));
  EXPECT_THAT(complaint({.capacity = max_capacity + 1}), HasSubstr("capacity 281474976710657"));
  EXPECT_THAT(complaint({.error_rate = 0}), HasSubstr("error_rate 0 is not within 1e-15 to 0.5"));
  EXPECT_THAT(complaint({.error_rate = 0.6}), HasSubstr("error_rate 0.6"));
  EXPECT_THAT(complaint({.error_rate = -1e-3}), HasSubstr("error_rate -0.001"));
  EXPECT_THAT(complaint({.error_rate = 1e-16}), HasSubstr("error_rate 1e-16"));
  EXPECT_THAT(complaint({.partitions = 0}), HasSubstr("partitions 0 is not within 1 to 65536"));
  EXPECT_THAT(complaint({.partitions = 65'537}), HasSubstr("partitions 65537"));
}

TEST(Spec, AcceptsTheBoundsThemselves) {
  for (const layout_kind layout : all_layouts) {
    EXPECT_EQ(complaint({.capacity = 1, .error_rate = sizing::max_error_rate, .layout = layout}), "none");
    EXPECT_EQ(complaint({.capacity = 1, .error_rate = sizing::min_error_rate, .layout = layout}), "none");
  }
  EXPECT_EQ(complaint({.capacity = max_capacity, .error_rate = 1e-15, .partitions = 65'536}), "none");
  EXPECT_EQ(complaint({.window = window_spec{1ms, 1}}), "none");
  EXPECT_EQ(complaint({.window = window_spec{1000ms, 1'000}}), "none");
}

TEST(Spec, RefusesNonNumbers) {
  for (const double rate : {std::nan(""), -std::nan(""), std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity()}) {
    for (const layout_kind layout : all_layouts)
      EXPECT_THAT(complaint({.error_rate = rate, .layout = layout}), HasSubstr("error_rate"));
    EXPECT_THAT(complaint({.error_rate = rate}), HasSubstr("error_rate"));
  }
}

TEST(Spec, RefusesProbesThatALineLayoutWouldIgnore) {
  EXPECT_THAT(complaint({.layout = layout_kind::line_8x64, .probes = 7}),
              HasSubstr("probes 7 do not fit layout line-8x64, which always sets 8 bits a key"));
  EXPECT_THAT(complaint({.error_rate = 1e-6, .probes = 7}), HasSubstr("ask for layout classic"));
  EXPECT_THAT(complaint({.layout = layout_kind::classic, .probes = 0}),
              HasSubstr("probes 0 is not within 1 to 64"));
  EXPECT_THAT(complaint({.layout = layout_kind::classic, .probes = 65}), HasSubstr("probes 65"));
  EXPECT_THAT(complaint({.layout = layout_kind::classic, .probes = 256 + 7}), HasSubstr("probes 263"));
}

TEST(Spec, WindowHasTenSlicesByDefault) {
  EXPECT_EQ(make_spec({.window = window_spec{1000ms, 0}}).window, (window_spec{1000ms, 10}));
}

TEST(Spec, RefusesAWindowThatItsSlicesDoNotDivide) {
  EXPECT_THAT(complaint({.window = window_spec{10s, 1'001}}), HasSubstr("slices 1001"));
  EXPECT_THAT(complaint({.window = window_spec{5ms, 6}}), HasSubstr("a window of 5 ms cannot have 6 slices"));
  EXPECT_THAT(complaint({.window = window_spec{0ms, 1}}), HasSubstr("a window of 0 ms"));
  EXPECT_THAT(complaint({.window = window_spec{-10ms, 1}}), HasSubstr("a window of -10 ms"));
  EXPECT_THAT(complaint({.window = window_spec{1000ms, 3}}), HasSubstr("the nearest below that is: 999 ms"));
  EXPECT_THAT(complaint({.window = window_spec{std::chrono::milliseconds::max(), 1'000}}),
              HasSubstr("the nearest below that is: 9223372036854775000 ms"));
}

TEST(Spec, RefusesAnOversizedFirstLayer) {
  EXPECT_THAT(complaint({.capacity = max_capacity, .error_rate = 1e-15, .layout = layout_kind::line_8x64}),
              HasSubstr("would exceed 2^62 bits"));
}

TEST(Spec, ChecksExternalSpecsAsStrictlyAsRequests) {
  const spec good = make_spec({});
  EXPECT_EQ(error_about(good), "none");
  const auto error_with = [&](auto change) {
    spec s = good;
    change(s);
    return error_about(s);
  };
  EXPECT_THAT(error_with([](spec& s) { s.capacity = 0; }), HasSubstr("capacity 0"));
  EXPECT_THAT(error_with([](spec& s) { s.error_rate = std::nan(""); }), HasSubstr("error_rate"));
  EXPECT_THAT(error_with([](spec& s) { s.layout = layout_kind{9}; }), HasSubstr("layout number 9"));
  EXPECT_THAT(error_with([](spec& s) { s.hash = hash_kind{0}; }), HasSubstr("hash number 0"));
  EXPECT_THAT(error_with([](spec& s) { s.growth = growth_kind{9}; }), HasSubstr("growth number 9"));
  EXPECT_THAT(error_with([](spec& s) { s.probes = 3; }), HasSubstr("probes 3"));
  EXPECT_THAT(error_with([](spec& s) { s.partitions = 0; }), HasSubstr("partitions 0"));
  EXPECT_THAT(error_with([](spec& s) { s.window = window_spec{1s, 0}; }), HasSubstr("slices 0"));
}

TEST(Spec, OfAnotherSystemHasTheFixedValuesOfThatSystem) {
  const spec guava = make_spec({.capacity = 1'000, .error_rate = 0.03, .layout = layout_kind::guava64});
  EXPECT_EQ(guava.foreign.first_bytes, 920U);  // Guava's 7,298 bits in words
  EXPECT_EQ(guava.probes, 5);
  EXPECT_EQ(guava.hash, hash_kind::murmur3);
  EXPECT_EQ(guava.growth, growth_kind::overfill);
  EXPECT_EQ(guava.seed, hash_seed{});
  const spec bloom =
      make_spec({.capacity = 1'000, .error_rate = 0.01, .layout = layout_kind::redisbloom, .expansion = 4});
  EXPECT_EQ(bloom.foreign.first_bytes, 1'384U);  // of BF.RESERVE key 0.01 1000
  EXPECT_EQ(bloom.probes, 8);
  EXPECT_EQ(bloom.hash, hash_kind::murmur64a);
  EXPECT_EQ(bloom.growth, growth_kind::grow);
  EXPECT_EQ(bloom.foreign.expansion, 4U);
}

TEST(Spec, OfAnotherSystemMayHaveARateAboveOneHalf) {
  EXPECT_EQ(complaint({.capacity = 1'000, .error_rate = 0.7, .layout = layout_kind::guava64}), "none");
  EXPECT_EQ(complaint({.capacity = 1'000, .error_rate = 0.7, .layout = layout_kind::redisbloom}), "none");
  EXPECT_THAT(complaint({.capacity = 1'000, .error_rate = 0.7}), HasSubstr("error_rate 0.7"));
}

TEST(Spec, OfAnotherSystemRefusesUnsupportedSettings) {
  using enum layout_kind;
  EXPECT_THAT(complaint({.layout = guava64, .probes = 5}), HasSubstr("leave them out"));
  EXPECT_THAT(complaint({.layout = guava64, .window = window_spec{10min, 10}}), HasSubstr("no window"));
  EXPECT_THAT(complaint({.layout = guava64, .partitions = 2}), HasSubstr("one partition"));
  EXPECT_THAT(complaint({.layout = redisbloom, .growth = growth_kind::overfill}), HasSubstr("overfilled"));
  EXPECT_THAT(complaint({.layout = redisbloom, .funnel = funnel_kind::chars}), HasSubstr("funnel"));
  EXPECT_THAT(complaint({.layout = redisbloom, .expansion = 0}), HasSubstr("factor of 0"));
  EXPECT_THAT(complaint({.capacity = max_capacity, .error_rate = 0.01, .layout = guava64}),
              HasSubstr("bytes long"));
}

TEST(Spec, OfAnotherSystemIsCheckedWhenItIsExternal) {
  const spec good = make_spec({.capacity = 1'000, .error_rate = 0.03, .layout = layout_kind::guava64});
  EXPECT_EQ(error_about(good), "none");
  const auto error_with = [&](auto change) {
    spec s = good;
    change(s);
    return error_about(s);
  };
  EXPECT_THAT(error_with([](spec& s) { s.hash = hash_kind::xxh3; }), HasSubstr("murmur3"));
  EXPECT_THAT(error_with([](spec& s) { s.hash = hash_kind::murmur64a; }), HasSubstr("murmur3"));
  EXPECT_THAT(error_with([](spec& s) { s.seed[3] = 1; }), HasSubstr("no seed"));
  EXPECT_THAT(error_with([](spec& s) { s.growth = growth_kind::grow; }), HasSubstr("does not grow"));
  EXPECT_THAT(error_with([](spec& s) { s.foreign.expansion = 2; }), HasSubstr("no rules of growth"));
  EXPECT_THAT(error_with([](spec& s) { s.foreign.powers_of_two = true; }), HasSubstr("no rules of growth"));
  EXPECT_THAT(error_with([](spec& s) { s.foreign.first_bytes = 0; }), HasSubstr("0 bytes long"));
  EXPECT_THAT(error_with([](spec& s) { s.foreign.first_bytes = 12; }), HasSubstr("12 bytes long"));
  EXPECT_THAT(error_with([](spec& s) { s.foreign.first_bytes = std::uint64_t{1} << 35; }),
              HasSubstr("bytes long"));
  EXPECT_THAT(error_with([](spec& s) { s.foreign.funnel = funnel_kind{4}; }), HasSubstr("funnel"));
  EXPECT_THAT(error_with([](spec& s) { s.layout = layout_kind::classic; }), HasSubstr("other systems'"));
}

TEST(Spec, OfOurOwnHasNoRulesOfAnotherSystem) {
  spec s = make_spec({});
  s.foreign.first_bytes = 64;
  EXPECT_THAT(error_about(s), HasSubstr("no rules of another system"));
}

TEST(Spec, RequestForAnUnknownLayoutIsRefused) {
  EXPECT_THAT(complaint({.layout = layout_kind{99}}), HasSubstr("layout number 99"));
}

TEST(Spec, GrowthNamesAreParsed) {
  for (const growth_kind kind : {growth_kind::grow, growth_kind::refuse, growth_kind::overfill})
    EXPECT_EQ(parse_growth_kind(to_string(kind)), kind);
  EXPECT_EQ(parse_growth_kind("Grow"), std::nullopt);
  EXPECT_EQ(parse_growth_kind("invalid"), std::nullopt);
}

TEST(FilterName, MayHaveAnyBytes) {
  for (const char* name : {"clicks", ".", "../a", "-a", "a b", "日志", "a\n", "\xff"})
    EXPECT_NO_THROW(validate_filter_name(name));
  EXPECT_NO_THROW(validate_filter_name(std::string_view("\0", 1)));
  EXPECT_NO_THROW(validate_filter_name(std::string(1024, 'n')));
}

TEST(FilterName, IsNeitherEmptyNorTooLong) {
  EXPECT_THROW(validate_filter_name(""), parameter_error);
  try {
    validate_filter_name(std::string(1025, 'n'));
    FAIL() << "no exception";
  } catch (const parameter_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("1 to 1024 bytes, not 1025"));
  }
}

// ---- differences

TEST(SpecDifferences, CoverOnlyRequestedFields) {
  const spec has = make_spec({.capacity = 1000,
                              .error_rate = 0.01,
                              .layout = layout_kind::classic,
                              .probes = 3,
                              .hash = hash_kind::siphash,
                              .growth = growth_kind::refuse,
                              .window = window_spec{10min, 5},
                              .partitions = 4});
  EXPECT_EQ(differences({}, has), "");
  EXPECT_EQ(differences({.capacity = 1000, .window = window_spec{10min, 5}}, has), "");
  EXPECT_EQ(differences({.capacity = 2000}, has), "capacity 1000 instead of 2000");
  EXPECT_EQ(differences({.error_rate = 1e-3}, has), "error_rate 0.01 instead of 0.001");
  EXPECT_EQ(differences({.layout = layout_kind::line_8x64}, has), "layout classic instead of line-8x64");
  EXPECT_EQ(differences({.layout = layout_kind::classic, .probes = 4}, has), "probes 3 instead of 4");
  EXPECT_EQ(differences({.hash = hash_kind::xxh3, .growth = growth_kind::grow}, has),
            "hash siphash instead of xxh3, growth refuse instead of grow");
  EXPECT_EQ(differences({.window = window_spec{10min}}, has),
            "window 600000 ms in 5 slices instead of 600000 ms in 10 slices");
  EXPECT_EQ(differences({.window = window_spec{10min, 0}}, has), "") << "the slices are left open";
  EXPECT_EQ(differences({.window = window_spec{1min, 0}}, has),
            "window 600000 ms in 5 slices instead of 60000 ms in 10 slices");
  EXPECT_EQ(differences({.window = window_spec{5ms, 0}}, make_spec({.window = window_spec{5ms, 5}})), "")
      << "ten slices would not divide it";
  EXPECT_EQ(differences({.partitions = 1}, has), "partitions 4 instead of 1");
}

TEST(SpecDifferences, IgnoreTheSeedAndTheJudge) {
  EXPECT_EQ(differences({.seed = hash_seed{7}, .judge = judge_kind::client}, make_spec({})), "");
}

TEST(SpecDifferences, TakeXxh3OfEitherLengthForXxh3) {
  const spec shorter = make_spec({.judge = judge_kind::client});
  ASSERT_EQ(shorter.hash, hash_kind::xxh3_64);
  EXPECT_EQ(differences({.hash = hash_kind::xxh3}, shorter), "");
  EXPECT_THAT(differences({.hash = hash_kind::siphash}, shorter),
              HasSubstr("hash xxh3-64 instead of siphash"));
}

TEST(SpecDifferences, OfForeignFiltersIncludeTheirRules) {
  const spec_request numbers{.layout = layout_kind::guava64, .funnel = funnel_kind::int64};
  EXPECT_EQ(differences(numbers, make_spec(numbers)), "");
  EXPECT_THAT(differences(numbers, make_spec({.layout = layout_kind::guava64})),
              HasSubstr("rules funnel bytes"));
  const spec_request doubling{.capacity = 1000, .error_rate = 0.01, .layout = layout_kind::redisbloom};
  EXPECT_EQ(differences(doubling, make_spec(doubling)), "") << "RedisBloom rounds the capacity up";
}

TEST(SpecDifferences, NeedAPossibleRequest) {
  EXPECT_THROW((void)differences({.capacity = 0}, make_spec({})), parameter_error);
}

TEST(Spec, OfAnotherSystemsFilterIsJudgedByWhomTheRequestNames) {
  for (const layout_kind layout : {layout_kind::guava64, layout_kind::redisbloom, layout_kind::line_8x64})
    for (const judge_kind judge : {judge_kind::server, judge_kind::client})
      EXPECT_EQ(make_spec({.layout = layout, .judge = judge}).judge, judge) << to_string(layout);
}

TEST(Spec, HasAHashOf64BitsWhereClientsJudgeAndTheRateAllowsIt) {
  const auto hash = [](std::uint64_t capacity, double rate, judge_kind judge) {
    return make_spec({.capacity = capacity, .error_rate = rate, .judge = judge}).hash;
  };
  const double rate = std::ldexp(1, -20);
  const auto bound = std::uint64_t{1} << 30;  // rate * 2^50
  EXPECT_EQ(hash(bound, rate, judge_kind::client), hash_kind::xxh3_64);
  EXPECT_EQ(hash(bound + 1, rate, judge_kind::client), hash_kind::xxh3);
  EXPECT_EQ(hash(1000, 1e-13, judge_kind::client), hash_kind::xxh3);
  EXPECT_EQ(hash(100, 1e-13, judge_kind::client), hash_kind::xxh3_64);
  EXPECT_EQ(hash(1000, rate, judge_kind::server), hash_kind::xxh3);
}

TEST(Spec, KeepsARequestedHashWhoeverJudges) {
  for (const judge_kind judge : {judge_kind::server, judge_kind::client}) {
    for (const hash_facts& f : all_hashes) {
      if (!f.is_own) continue;
      EXPECT_EQ(make_spec({.hash = f.kind, .judge = judge}).hash, f.kind) << f.name;
    }
  }
}

TEST(Spec, RefusesAHashOf64BitsIfItWouldCauseAPercentOfTheErrors) {
  const auto bound = std::uint64_t{1} << 27;
  EXPECT_EQ(complaint({.capacity = bound, .error_rate = std::ldexp(1, -30), .hash = hash_kind::xxh3_64}),
            "none");
  EXPECT_THAT(
      complaint({.capacity = bound + 1, .error_rate = std::ldexp(1, -30), .hash = hash_kind::xxh3_64}),
      HasSubstr("take xxh3"));
}

}  // namespace
}  // namespace everseen
