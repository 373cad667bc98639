// Whole filters of the original programs, rebuilt from their keys alone, give the same answers and the same
// bits.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/hash/funnel.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/foreign/guava/guava.hpp"

#include "test/foreign/vectors.hpp"
#include "test/support/model/guava_filter.hpp"
#include "test/support/model/redisbloom_chain.hpp"

namespace everseen::foreign {
namespace {

using bytes = std::vector<std::byte>;
using test::from_base64;
using test::vectors;

std::string answers(const guava::filter& asked, const std::string& prefix, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += asked.may_contain(prefix + std::to_string(i)) ? '1' : '0';
  return text;
}

guava::filter filter_for(guava::strategy algorithm, const nlohmann::json& row) {
  return guava::filter(guava::smallest(algorithm, row["expectedInsertions"], row["fpp"]));
}

/// Adds the strings of the recorded run. Returns the result of each put().
std::string add_strings(guava::filter& target) {
  const auto keys = vectors("guava")["keys"];
  std::string returned;
  for (const auto& row : keys) returned += target.add(row["key"].get<std::string>()) ? '1' : '0';
  return returned;
}

TEST(FiltersGolden, GuavaOfStringsHasTheSameStream) {
  const auto row = vectors("guava")["filters"][0];
  guava::filter filled = filter_for(guava::strategy::mitz_64, row);
  EXPECT_EQ(add_strings(filled), row["put_returned"].get<std::string>());
  const std::string expected = row["probe_mightContain"];
  EXPECT_EQ(answers(filled, row["probe_prefix"], expected.size()), expected);
  EXPECT_EQ(guava::encode(filled), from_base64(row["writeTo_base64"].get<std::string>()));
}

TEST(FiltersGolden, GuavaOfLongsHasTheSameStream) {
  const auto row = vectors("guava")["filters"][1];
  guava::filter filled = filter_for(guava::strategy::mitz_64, row);
  std::string element;
  for (std::int64_t i = 0; i < 64; ++i) {
    apply_funnel(funnel_kind::int64, std::to_string(i * i * 31 - 7 * i - 1000), element);
    filled.add(element);
  }
  EXPECT_EQ(guava::encode(filled), from_base64(row["writeTo_base64"].get<std::string>()));
}

TEST(FiltersGolden, GuavaOfTheOldStrategyHasTheSameStream) {
  const auto row = vectors("guava")["filters"][2];
  guava::filter filled = filter_for(guava::strategy::mitz_32, row);
  add_strings(filled);
  EXPECT_EQ(guava::encode(filled), from_base64(row["writeTo_base64"].get<std::string>()));
}

/// Key number i of a recorded run whose pattern ends in <i>.
std::string nth(const std::string& pattern, std::size_t i) {
  return pattern.substr(0, pattern.find("<i>")) + std::to_string(i);
}

redisbloom::chain chain_for(const nlohmann::json& row) {
  redisbloom::request asked;
  const auto& words = row["reserve"];
  asked.error_rate = std::stod(words[0].get<std::string>());
  asked.capacity = words[1];
  asked.grows = words.size() < 3 || words[2] != "NONSCALING";
  if (words.size() == 4) asked.expansion = words[3];
  return redisbloom::chain::reserve(asked);
}

class RedisBloomGolden : public testing::TestWithParam<std::size_t> {
 protected:
  const nlohmann::json row = vectors("redisbloom")["filters"][GetParam()];
  redisbloom::chain filled = chain_for(row);

  /// Adds the keys of the recorded run. Returns the replies of BF.MADD.
  std::string add_keys() {
    std::string replies;
    for (std::size_t i = 0; i < row["keys"].get<std::size_t>(); ++i)
      replies += filled.add(nth(row["key_pattern"], i)) == verdict::fresh ? '1' : '0';
    return replies;
  }
};

TEST_P(RedisBloomGolden, AnswersAsRecorded) {
  EXPECT_EQ(add_keys(), row["madd_replies"].get<std::string>());
  const std::string expected = row["mexists_replies"];
  std::string replies;
  for (std::size_t i = 0; i < expected.size(); ++i)
    replies += filled.may_contain(nth(row["probe_pattern"], i)) ? '1' : '0';
  EXPECT_EQ(replies, expected);
}

TEST_P(RedisBloomGolden, HasTheSameDumpByteForByte) {
  add_keys();
  redisbloom::dumper out(filled);
  for (const auto& expected : row["scandump"]) {
    const auto chunk = out.next();
    ASSERT_TRUE(chunk);
    EXPECT_EQ(chunk->iterator, expected["iterator"]);
    EXPECT_EQ(bytes(chunk->data.begin(), chunk->data.end()),
              from_base64(expected["data_base64"].get<std::string>()));
  }
  EXPECT_FALSE(out.next());
}

TEST_P(RedisBloomGolden, IsReadFromItsDump) {
  add_keys();
  redisbloom::loader in;
  for (const auto& each : row["scandump"])
    in.load(each["iterator"], from_base64(each["data_base64"].get<std::string>()));
  EXPECT_EQ(in.finish(), filled);
}

INSTANTIATE_TEST_SUITE_P(Recorded, RedisBloomGolden, testing::Range<std::size_t>(0, 3));

}  // namespace
}  // namespace everseen::foreign
