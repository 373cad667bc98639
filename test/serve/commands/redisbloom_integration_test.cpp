// Compares `everseen serve --redisbloom` with recorded answers of RedisBloom, and with the expectations of
// RedisBloom's own suite.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/foreign/vectors.hpp"
#include "test/serve/replies.hpp"
#include "test/serve/serving.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> keys_of(const std::string& pattern, std::size_t count) {
  std::vector<std::string> keys;
  const std::size_t position = pattern.find("<i>");
  for (std::size_t i = 0; i < count; ++i)
    keys.push_back(pattern.substr(0, position) + std::to_string(i) + pattern.substr(position + 3));
  return keys;
}

reply ask_words(raw_client& client, std::vector<std::string> words,
                const std::vector<std::string>& more = {}) {
  words.insert(words.end(), more.begin(), more.end());
  client.send(encoded(words));
  return receive_reply(client);
}

std::string digits_of(const reply& r) {
  std::string digits;
  for (const reply& part : r.parts) digits += part.text;
  return digits;
}

class RedisBloomLayout : public testing::Test {
 protected:
  void start(const std::string& store = "mem:") {
    server_.emplace(store, std::vector<std::string>{"--redisbloom"});
    client_.emplace(server_->path());
  }
  reply ask(const std::string& line) { return test::ask(*client_, line); }

  std::optional<serving> server_{};
  std::optional<raw_client> client_{};
};

// Promise: error rates above 0.25 are taken as 0.25 (operations, RedisBloom's versions).
TEST_F(RedisBloomLayout, TakesHighErrorRatesAsAQuarter) {
  start();
  for (const char* request : {"BF.RESERVE a 0.25 1000", "BF.RESERVE b 0.4 1000", "BF.RESERVE c 0.99 1000"})
    EXPECT_EQ(ask(request).text, "OK");
  EXPECT_EQ(ask("BF.INSERT d CAPACITY 1000 ERROR 0.6 ITEMS x").parts.size(), 1U);
  EXPECT_EQ(ask("BF.ADD a x").text + ask("BF.ADD b x").text + ask("BF.ADD c x").text, "111");
  const auto header = [&](const std::string& key) { return ask("BF.SCANDUMP " + key + " 0").parts[1].text; };
  for (const char* key : {"b", "c", "d"}) EXPECT_EQ(header(key), header("a")) << key;
  EXPECT_EQ(ask("BF.RESERVE e 1 1000").text, "ERR error rate must be in the range (0.000000, 1.000000)");
}

// Promise: filters of RedisBloom's layout answer as RedisBloom (operations, RedisBloom's versions).
TEST_F(RedisBloomLayout, AnswersAsRecorded) {
  start();
  const auto recorded = vectors("redisbloom");
  int number = 0;
  for (const auto& row : recorded["filters"]) {
    const std::string name = "f" + std::to_string(++number);
    std::vector<std::string> reserve = {"BF.RESERVE", name};
    for (const auto& word : row["reserve"])
      reserve.push_back(word.is_string() ? word.template get<std::string>() : word.dump());
    ASSERT_EQ(ask_words(*client_, reserve).text, "OK");
    const auto added = keys_of(row["key_pattern"], row["keys"]);
    EXPECT_EQ(digits_of(ask_words(*client_, {"BF.MADD", name}, added)),
              row["madd_replies"].get<std::string>());
    const std::string answers = row["mexists_replies"];
    const auto asked = keys_of(row["probe_pattern"], answers.size());
    EXPECT_EQ(digits_of(ask_words(*client_, {"BF.MEXISTS", name}, asked)), answers);
    const reply debug = ask("BF.DEBUG " + name);
    ASSERT_EQ(debug.parts.size(), row["debug"].size());
    for (std::size_t i = 0; i < debug.parts.size(); ++i)
      EXPECT_EQ(debug.parts[i].text, row["debug"][i].get<std::string>());
    EXPECT_EQ(ask("BF.INFO " + name + " CAPACITY").parts[0].text, row["info"]["Capacity"].dump());
    EXPECT_EQ(ask("BF.INFO " + name + " SIZE").parts[0].text, row["info"]["Size"].dump());
    EXPECT_EQ(ask("BF.INFO " + name + " FILTERS").parts[0].text, row["info"]["Number of filters"].dump());
    EXPECT_EQ(ask("BF.INFO " + name + " ITEMS").parts[0].text,
              row["info"]["Number of items inserted"].dump());
  }
}

/// From RedisBloom's own suite: a filter for one key that adds a layer for each key.
// Promise: filters of RedisBloom's layout grow as RedisBloom's own (operations, RedisBloom's versions).
TEST_F(RedisBloomLayout, GrowsAsLongAsRedisBloomDoes) {
  start();
  ASSERT_EQ(ask("BF.RESERVE poc 0.0001 1 EXPANSION 1").text, "OK");
  const reply answer = ask_words(*client_, {"BF.MADD", "poc"}, keys_of("<i>", 5'000));
  ASSERT_EQ(answer.parts.size(), 5'000U) << "RedisBloom answers each key, too";
  const auto failed =
      std::find_if(answer.parts.begin(), answer.parts.end(), [](const reply& r) { return r.is_error(); });
  ASSERT_NE(failed, answer.parts.end());
  EXPECT_THAT(failed->text, StartsWith("ERR problem inserting into filter: the filter is full"));
  EXPECT_THAT(failed->text, HasSubstr("it has grown 1060 times"));
  EXPECT_EQ(ask("BF.INFO poc FILTERS").parts.at(0).text, "1061");
  EXPECT_THAT(ask("BF.DEBUG poc").parts.back().text, HasSubstr(" ratio:4.94066e-324"));
  EXPECT_EQ(ask("BF.EXISTS poc 0").text, "1");
  EXPECT_EQ(ask("BF.MADD poc 0 1").parts.at(1).text, "0");
}

TEST_F(RedisBloomLayout, OfManyLayersIsTheSameInFilesAsInTheProcess) {
  const scratch_directory files;
  start("file:" + files.path().string());
  ASSERT_EQ(ask("BF.RESERVE a 0.01 1 EXPANSION 1").text, "OK");
  ask_words(*client_, {"BF.MADD", "a"}, keys_of("<i>", 120));
  const reply before = ask("BF.DEBUG a");
  EXPECT_GT(before.parts.size(), 70U);
  EXPECT_EQ(server_->stop().exit_code, 0);
  server_->start();
  client_.emplace(server_->path());
  EXPECT_EQ(ask("BF.EXISTS a 0").text, "1");
  EXPECT_EQ(shape_of(ask("BF.DEBUG a")), shape_of(before));
  EXPECT_EQ(ask("BF.DEBUG a").parts.back().text, before.parts.back().text);
}

/// Dumped by one server, loaded by another.
TEST_F(RedisBloomLayout, OfManyLayersIsLoadedFromItsChunks) {
  start();
  ASSERT_EQ(ask("BF.RESERVE a 0.01 1 EXPANSION 1").text, "OK");
  ask_words(*client_, {"BF.MADD", "a"}, keys_of("<i>", 200));
  std::string iterator = "0";
  for (;;) {
    const reply chunk = ask("BF.SCANDUMP a " + iterator);
    iterator = chunk.parts.at(0).text;
    if (iterator == "0") break;
    ASSERT_EQ(ask_words(*client_, {"BF.LOADCHUNK", "b", iterator, chunk.parts.at(1).text}).text, "OK");
  }
  EXPECT_EQ(ask("BF.CARD b").text, ask("BF.CARD a").text);
  EXPECT_GT(std::stoul(ask("BF.CARD b").text), 100U);
  const reply ours = ask("BF.DEBUG a"), theirs = ask("BF.DEBUG b");
  ASSERT_EQ(ours.parts.size(), theirs.parts.size());
  EXPECT_EQ(ours.parts.back().text, theirs.parts.back().text);
}

TEST_F(RedisBloomLayout, DescribesItsLayersAsRedisBloomsSuiteExpects) {
  start();
  ask("BF.RESERVE bf 0.01 10");
  for (int i = 0; i < 100; ++i) ask("BF.ADD bf " + std::to_string(i));
  const reply answer = ask("BF.DEBUG bf");
  ASSERT_EQ(answer.parts.size(), 5U);
  EXPECT_EQ(answer.parts[0].text, "size:99");
  EXPECT_EQ(answer.parts[1].text, "bytes:16 bits:128 hashes:8 hashwidth:64 capacity:10 size:10 ratio:0.005");
  EXPECT_EQ(answer.parts[4].text,
            "bytes:160 bits:1280 hashes:11 hashwidth:64 capacity:80 size:29 ratio:0.000625");
  EXPECT_EQ(ask("BF.DEBUG none").text, "ERR not found");
  ask("BF.RESERVE empty 0.01 10");
  EXPECT_EQ(ask("BF.DEBUG empty").parts[1].text,
            "bytes:16 bits:128 hashes:8 hashwidth:64 capacity:10 size:0 ratio:0.005");
}

}  // namespace
}  // namespace everseen::test
