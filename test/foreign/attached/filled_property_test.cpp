// Attached filters that are filled far past their capacity, beside a model of their original: the same
// verdicts key by key, and the same strings. The original of every form but the growing one knows no
// capacity: it goes on setting bits, and errs more.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/foreign/bitmap/php_filters.hpp"

#include "test/foreign/attached/attached.hpp"

namespace everseen::foreign {
namespace {

using test::redis_server;

constexpr std::uint64_t few_bits = 9'585;

/// Every form of a single string that can be attached, by each of the commands that judge it.
struct filled_form {
  family which;
  std::string commands;
};

std::vector<filled_form> forms_of_one_string() {
  std::vector<filled_form> all;
  for (const family_facts& each : all_families())
    if (each.which != family::redisbloom)
      for (const char* commands : {"script", "bitfield"}) all.push_back({each.which, commands});
  return all;
}

/// The keys that set half of its bits, as everseen and its original plan it.
std::size_t capacity_of(const filter& f) {
  return static_cast<std::size_t>(f.get_spec().capacity);
}

/// Some new keys, some that were added before.
std::vector<std::string> next_batch(std::size_t count, std::uint64_t seed) {
  std::vector<std::string> keys = random_keys(count, seed);
  const std::vector<std::string> before = random_keys(count / 5, seed == 0 ? 0 : seed - 1);
  keys.insert(keys.end(), before.begin(), before.end());
  return keys;
}

template <typename Model>
std::vector<verdict> verdicts_of(Model& model, const std::vector<std::string>& keys) {
  std::vector<verdict> all;
  for (const std::string& key : keys) all.push_back(model.add(key));
  return all;
}

/// What the model would say, without adding.
template <typename Model>
std::vector<verdict> looked_up_in(const Model& model, const std::vector<std::string>& keys) {
  std::vector<verdict> all;
  for (const std::string& key : keys) {
    Model copy = model;
    all.push_back(copy.add(key));
  }
  return all;
}

class FilledFormOfOneString : public ::testing::TestWithParam<filled_form> {
 protected:
  /// @param bits  that are set already, from the first byte on
  void fill(const attachment& a, const std::string& bits, std::size_t keys_a_batch) {
    if (!bits.empty()) server_.run({"SETRANGE", a.key, "0", bits});
    filter f = attached(*store_at(server_.url("?commands=" + GetParam().commands)), "a", a);
    naive_bits model(behind(f).what().hashing, bits);
    for (std::uint64_t batch = 0; batch < 12; ++batch) {
      const std::vector<std::string> keys = next_batch(keys_a_batch, batch);
      const auto got = add_to(f, keys);
      ASSERT_TRUE(got.result) << "after " << batch << " batches: " << got.result.error().message;
      ASSERT_EQ(got.verdicts, verdicts_of(model, keys)) << batch;
    }
    EXPECT_TRUE(server_.run({"GET", a.key}) == model.bytes());
    const std::vector<std::string> strangers = random_keys(30, 99);
    EXPECT_EQ(look_in(f, strangers).verdicts, looked_up_in(model, strangers));
  }

  redis_server server_;
};

// Promise: a filter that is fuller than planned still answers as its program does (foreign-filters, Attached
// filters).
TEST_P(FilledFormOfOneString, AnswersAsItsOriginal) {
  attachment a = attachment_to("bits", GetParam().which, few_bits);
  if (a.hashing.which == family::redisson)
    server_.run({"HSET", "{bits}:config", "size", std::to_string(few_bits), "hashIterations", "7"});
  if (facts(a.hashing.which).fixed_bits != 0) {
    fill(a, std::string(a.hashing.bits / 8, '\x77'), 300);
    return;
  }
  fill(a, "", 3 * few_bits / a.hashing.probes / 12);
  EXPECT_GT(std::stoull(server_.run({"BITCOUNT", "bits"})), few_bits * 6 / 10) << "it was not filled";
}

INSTANTIATE_TEST_SUITE_P(Forms, FilledFormOfOneString, ::testing::ValuesIn(forms_of_one_string()),
                         [](const auto& one) {
                           std::string name(facts(one.param.which).name);
                           std::erase(name, '-');
                           return name + "_" + one.param.commands;
                         });

TEST(FilledForm, GrowingAnswersAsItsOriginal) {
  const redis_server server;
  const attachment a = growing("base", 6'400, 5);
  filter f = attached(*store_at(server.url()), "a", a);
  naive_chain model(a);
  for (std::uint64_t batch = 0; batch < 12; ++batch) {
    const std::vector<std::string> keys = next_batch(capacity_of(f) / 2, batch);
    const auto got = add_to(f, keys);
    ASSERT_TRUE(got.result) << got.result.error().message;
    ASSERT_EQ(got.verdicts, verdicts_of(model, keys)) << batch;
  }
  ASSERT_GE(model.newest(), 4u);
  EXPECT_EQ(server.run({"GET", "cursor"}), std::to_string(model.newest()));
  for (std::size_t i = 0; i <= model.newest(); ++i)
    EXPECT_EQ(server.run({"BITCOUNT", "base-" + std::to_string(i)}), std::to_string(model.bits_of(i))) << i;
}

/// Each key in the string that its hash names.
class naive_shards {
 public:
  naive_shards(const attachment& a, std::uint32_t instances)
      : hashing_(a.hashing), places_(a.hashing.bits, instances) {}

  verdict add(std::string_view key) {
    const auto place = places_.of(key);
    return strings_.try_emplace({place.instance, place.partition}, hashing_).first->second.add(key);
  }
  [[nodiscard]] const std::map<std::pair<std::uint32_t, std::uint64_t>, naive_bits>& strings()
      const noexcept {
    return strings_;
  }

 private:
  scheme hashing_;
  bkdr_php::shards places_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, naive_bits> strings_{};
};

TEST(FilledForm, ShardsAnswerAsTheirOriginal) {
  const redis_server servers[2];
  for (const char* commands : {"script", "bitfield"}) {
    const std::string name = std::string("clicks_") + commands;
    const attachment a = sharded(name, few_bits);
    filter f = attached(
        *store_at("redis://" + servers[0].address() + "," + servers[1].address() + "/?commands=" + commands),
        name, a);
    naive_shards model(a, 2);
    for (std::uint64_t batch = 0; batch < 12; ++batch) {
      const std::vector<std::string> keys = next_batch(capacity_of(f) / 4, batch);
      const auto got = add_to(f, keys);
      ASSERT_TRUE(got.result) << got.result.error().message;
      ASSERT_EQ(got.verdicts, verdicts_of(model, keys)) << commands << ' ' << batch;
    }
    ASSERT_EQ(model.strings().size(), 2u);
    for (const auto& [place, bits] : model.strings())
      EXPECT_TRUE(servers[place.first].run({"GET", name + "." + std::to_string(place.second)}) ==
                  bits.bytes());
  }
}

// A user that may set bits and not move the cursor. The call that would begin the next string adds no key.
TEST(FilledForm, ChainWhoseCursorCannotBeMovedSetsNoBitOfARefusedKey) {
  const redis_server server;
  server.run({"ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", "-incr"});
  const attachment a = growing("base", 6'400, 5);
  filter f = attached(*store_at("redis://plain:secret@" + server.address()), "a", a);
  naive_chain model(a);
  const std::vector<std::string> keys = random_keys(3 * capacity_of(f), 5);
  const auto got = add_to(f, keys);
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, ::testing::HasSubstr("refused a command"));
  std::size_t judged = 0;
  while (got.verdicts[judged] != verdict::unknown) {
    ASSERT_EQ(got.verdicts[judged], model.add(keys[judged])) << judged;
    ++judged;
  }
  EXPECT_GT(judged, capacity_of(f) / 2) << "those before it have their verdicts";
  EXPECT_EQ(server.run({"BITCOUNT", "base-0"}), std::to_string(model.bits_of(0)));
  EXPECT_EQ(server.run({"EXISTS", "cursor"}), "0");
}

}  // namespace
}  // namespace everseen::foreign
