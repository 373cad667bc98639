// Compares filters of other systems with those systems' code, for any sizes and keys, exported and imported
// at any time.

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/foreign/guava/guava.hpp"
#include "everseen/open_store.hpp"

#include "test/support/model/guava_filter.hpp"
#include "test/support/model/redisbloom_chain.hpp"
#include "test/support/samples/foreign_files.hpp"

namespace everseen {
namespace {

using namespace test;
using foreign::guava::strategy;

/// Keys of which about every other one occurred before.
std::vector<std::string> some_keys() {
  const auto numbers = *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0U, 300U));
  std::vector<std::string> keys;
  for (const unsigned n : numbers) keys.push_back("key " + std::to_string(n));
  return keys;
}

template <typename Theirs, typename Judge>
void add_to_both(filter& ours, Theirs& theirs, const std::vector<std::string>& keys, Judge judge) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<verdict> verdicts(keys.size());
  RC_ASSERT(ours.add(views, verdicts).has_value());
  for (std::size_t i = 0; i < keys.size(); ++i) RC_ASSERT(verdicts[i] == judge(theirs, keys[i]));
}

RC_GTEST_PROP(ForeignProperty, AFilterOfGuavaIsTheSameWhereverItsKeysAreAdded, ()) {
  const auto algorithm = *rc::gen::element(strategy::mitz_32, strategy::mitz_64);
  const auto capacity = *rc::gen::inRange<std::uint64_t>(1, 500);
  const double rate = *rc::gen::element(0.4, 0.1, 0.03, 1e-3, 1e-9);
  const auto put = [](foreign::guava::filter& target, const std::string& key) {
    return target.add(key) ? verdict::fresh : verdict::seen;
  };
  const auto store = open_store("mem:");
  foreign::guava::filter theirs(foreign::guava::smallest(algorithm, capacity, rate));
  const layout_kind layout = algorithm == strategy::mitz_32 ? layout_kind::guava32 : layout_kind::guava64;
  filter first("a",
               store->create("a", store->plan({.capacity = capacity, .error_rate = rate, .layout = layout})));
  add_to_both(first, theirs, some_keys(), put);
  const std::string moved = exported_guava(first);
  RC_ASSERT(moved == stream_of(theirs));
  import_guava(*store, "b", pipe_of(moved, *rc::gen::inRange<std::size_t>(1, 100)), {});
  filter second("b", store->open("b", access::write));
  add_to_both(second, theirs, some_keys(), put);
  RC_ASSERT(exported_guava(second) == stream_of(theirs));
}

RC_GTEST_PROP(ForeignProperty, AChainOfRedisBloomIsTheSameWhereverItsKeysAreAdded, ()) {
  redisbloom::request asked;
  asked.capacity = *rc::gen::inRange<std::uint64_t>(1, 60);
  asked.error_rate = *rc::gen::element(0.4, 0.1, 0.01, 1e-4);
  asked.expansion = *rc::gen::inRange(1U, 5U);
  // A chain that expands by 1 gets another layer and another probe at regular intervals; 40 layers are the
  // limit.
  if (asked.expansion == 1) asked.capacity += 20;
  const auto store = open_store("mem:");
  auto theirs = redisbloom::chain::reserve(asked);
  const auto add = [](redisbloom::chain& target, const std::string& key) { return target.add(key); };
  filter first("a", store->create("a", store->plan({.capacity = asked.capacity,
                                                    .error_rate = asked.error_rate,
                                                    .layout = layout_kind::redisbloom,
                                                    .expansion = asked.expansion})));
  add_to_both(first, theirs, some_keys(), add);
  const std::string moved = exported_redisbloom(first);
  RC_ASSERT(moved == commands_of(theirs));
  import_redisbloom(*store, "b", pipe_of(moved, *rc::gen::inRange<std::size_t>(1, 100)));
  filter second("b", store->open("b", access::write));
  add_to_both(second, theirs, some_keys(), add);
  RC_ASSERT(exported_redisbloom(second) == commands_of(theirs));
}

}  // namespace
}  // namespace everseen
