#include "everseen/stream/record/record_rule.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/stream/record/block_reader.hpp"

namespace everseen {
namespace {

using kind = field_rule::kind;

field_rule field(unsigned number, char delimiter = '\t') {
  return {kind::delimited, number, delimiter, {}};
}
field_rule json(std::string pointer) {
  return {kind::json, 0, '\t', std::move(pointer)};
}

/// A record with exactly the room behind it that the rule may read, filled with what misleads a parser.
class padded {
 public:
  explicit padded(std::string_view record) : bytes_(record.begin(), record.end()), size_(record.size()) {
    constexpr std::string_view next = "\n{\"id\":\"next\",\"x\":[1,2]}";
    for (std::size_t i = 0; i < block_reader::padding; ++i) bytes_.push_back(next[i % next.size()]);
  }
  [[nodiscard]] std::string_view record() const { return {bytes_.data(), size_}; }

 private:
  std::vector<char> bytes_;
  std::size_t size_;
};

std::optional<std::string> key(const field_rule& rule, std::string_view record) {
  record_rule reader(rule, std::nullopt);
  const padded bytes(record);
  const auto parts = reader.read(bytes.record());
  if (!parts) return std::nullopt;
  return std::string(parts->key);
}

TEST(RecordRule, TakesTheWholeRecord) {
  record_rule rule({}, std::nullopt);
  EXPECT_TRUE(rule.whole_record_is_key());
  EXPECT_FALSE(rule.has_time());
  EXPECT_EQ(key({}, "a\tb\r"), "a\tb\r");
  EXPECT_EQ(key({}, ""), "");
}

// Promise: an empty field is a key (dedup, Keys and records).
TEST(RecordRule, TakesAField) {
  EXPECT_EQ(key(field(1), "a\tb\tc"), "a");
  EXPECT_EQ(key(field(2), "a\tb\tc"), "b");
  EXPECT_EQ(key(field(3), "a\tb\tc"), "c");
  EXPECT_EQ(key(field(4), "a\tb\tc"), std::nullopt);
  EXPECT_EQ(key(field(1), ""), "");
  EXPECT_EQ(key(field(2), ""), std::nullopt);
  EXPECT_EQ(key(field(2), "a\t\tc"), "") << "an empty field is a key";
  EXPECT_EQ(key(field(3), "a\tb\t"), "");
  EXPECT_EQ(key(field(2, ','), "a\tb,c\td,e"), "c\td");
  EXPECT_EQ(key(field(2, '\0'), std::string_view("a\0b\0c", 5)), "b");
  EXPECT_EQ(key(field(2, ' '), "a  b"), "") << "delimiters are not merged";
}

TEST(RecordRule, RefusesFieldZero) {
  EXPECT_THROW(record_rule(field(0), std::nullopt), parameter_error);
  EXPECT_THROW(record_rule({}, field(0)), parameter_error);
}

// Promise: a JSON value other than a string is its text as it stands (dedup, Keys and records).
TEST(RecordRule, TakesAJsonValue) {
  constexpr std::string_view record =
      R"({"id":"k1","n":12.50,"t":true,"f":false,"z":null,"big":123456789012345678901234567890,)"
      R"("user":{"id":7,"tags":["a","b",{"deep":"x"}]},"empty":"","sp": 5 ,"last":-1})";
  EXPECT_EQ(key(json("/id"), record), "k1");
  EXPECT_EQ(key(json("/n"), record), "12.50") << "a number gives its text";
  EXPECT_EQ(key(json("/t"), record), "true");
  EXPECT_EQ(key(json("/f"), record), "false");
  EXPECT_EQ(key(json("/z"), record), "null");
  EXPECT_EQ(key(json("/big"), record), "123456789012345678901234567890");
  EXPECT_EQ(key(json("/user/id"), record), "7");
  EXPECT_EQ(key(json("/user/tags/1"), record), "b");
  EXPECT_EQ(key(json("/user/tags/2/deep"), record), "x");
  EXPECT_EQ(key(json("/user/tags"), record), R"(["a","b",{"deep":"x"}])");
  EXPECT_EQ(key(json("/empty"), record), "");
  EXPECT_EQ(key(json("/sp"), record), "5");
  EXPECT_EQ(key(json("/last"), record), "-1");
  EXPECT_EQ(key(json("/missing"), record), std::nullopt);
  EXPECT_EQ(key(json("/user/missing"), record), std::nullopt);
  EXPECT_EQ(key(json("/user/tags/3"), record), std::nullopt);
  EXPECT_EQ(key(json("/user/tags/x"), record), std::nullopt);
  EXPECT_EQ(key(json("/id/0"), record), std::nullopt);
}

// Promise: a JSON string gives its unescaped bytes (dedup, Keys and records).
TEST(RecordRule, UnescapesJsonStrings) {
  EXPECT_EQ(key(json("/a"), R"({"a":"x\"\\\/\n\u00e9\ud83d\ude00"})"), "x\"\\/\n\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(key(json("/a"), R"({"a":"\u0000"})"), std::string(1, '\0'));
  EXPECT_EQ(key(json("/a"), "{\"a\":\"\xc3\xa9\"}"), key(json("/a"), R"({"a":"\u00e9"})"));
  EXPECT_EQ(key(json("/a"), R"({"a":"\ud83d"})"), std::nullopt) << "half a surrogate pair is no text";
}

TEST(RecordRule, UnescapesJsonPointers) {
  EXPECT_EQ(key(json("/a~1b"), R"({"a/b":1})"), "1");
  EXPECT_EQ(key(json("/a~0b"), R"({"a~b":2})"), "2");
  EXPECT_EQ(key(json("/~01"), R"({"~1":3})"), "3");
  EXPECT_EQ(key(json("/"), R"({"":4})"), "4");
  EXPECT_EQ(key(json("/a b"), R"({"a b":5})"), "5");
}

TEST(RecordRule, RefusesJsonPointersThatAreNone) {
  for (const char* pointer : {"", "a", "a/b", "/~", "/a~", "/~2", "/a/~x/b"})
    EXPECT_THROW(record_rule(json(pointer), std::nullopt), parameter_error) << pointer;
}

TEST(RecordRule, KnowsNumbers) {
  for (const std::string number : {"0", "-0", "10", "-1.5", "0.0", "1e5", "1E+5", "1.25e-300", "1e999"})
    EXPECT_EQ(key(json("/n"), "{\"n\":" + number + "}"), number);
  for (const std::string none : {"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "1_0", "--1"})
    EXPECT_EQ(key(json("/n"), "{\"n\":" + none + "}"), std::nullopt) << none;
}

TEST(RecordRule, ReadsArraysAtTheTop) {
  EXPECT_EQ(key(json("/1"), R"([10,20,30])"), "20");
  EXPECT_EQ(key(json("/0/id"), R"([{"id":"a"}])"), "a");
}

TEST(RecordRule, FindsNoKeyInDamagedJson) {
  const std::string whole = R"({"first":"one","id":12345,"user":{"name":"x\ty"},"rest":[1,2,3]})";
  ASSERT_EQ(key(json("/id"), whole), "12345");
  for (std::size_t length = 0; length < whole.size(); ++length)
    if (length == 0 || whole[length - 1] != '}') {  // an inner brace looks like the end; no more is promised
      EXPECT_EQ(key(json("/id"), whole.substr(0, length)), std::nullopt) << whole.substr(0, length);
    }
  for (const char* damaged : {"",
                              " ",
                              "x",
                              "null",
                              "12",
                              "\"id\"",
                              "{",
                              "}",
                              "[]",
                              "{}",
                              "{\"id\"}",
                              "{\"id\":}",
                              "{\"id\" 5}",
                              "{\"id\":\"a}",
                              "{id:5}",
                              "\xff\xfe{\"id\":5}",
                              "{\"id\":\"\xff\"}",
                              "{\"id\":tru}",
                              "{\"id\":12a}",
                              "{\"id\":nul}",
                              "{\"id\":-}",
                              "{\"id\":01}"})
    EXPECT_EQ(key(json("/id"), damaged), std::nullopt) << damaged;
}

TEST(RecordRule, DoesNotReadTheNextRecord) {
  EXPECT_EQ(key(json("/x"), R"({"id":5})"), std::nullopt);
  EXPECT_EQ(key(json("/id"), ""), std::nullopt);
}

TEST(RecordRule, IgnoresACarriageReturnAfterJson) {
  EXPECT_EQ(key(json("/id"), "{\"id\":5}\r"), "5");
}

TEST(RecordRule, ReadsLongRecords) {
  const std::string record = "{\"pad\":\"" + std::string(1 << 20, 'x') + "\",\"id\":\"end\"}";
  EXPECT_EQ(key(json("/id"), record), "end");
}

TEST(RecordRule, TakesTimeAndKeyFromTheSameDocument) {
  record_rule rule(json("/user"), json("/at"));
  EXPECT_FALSE(rule.whole_record_is_key());
  EXPECT_TRUE(rule.has_time());
  const padded numbers(R"({"at":1700000000,"user":"a\u0062"})");
  const auto first = rule.read(numbers.record());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->key, "ab");
  EXPECT_EQ(first->time.time_since_epoch().count(), 1'700'000'000'000);

  const padded text(R"({"user":"cd","at":"2023-11-14T22:13:20.5Z"})");
  const auto second = rule.read(text.record());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->key, "cd");
  EXPECT_EQ(second->time.time_since_epoch().count(), 1'700'000'000'500);

  EXPECT_FALSE(rule.read(padded(R"({"user":"cd"})").record()));
  EXPECT_FALSE(rule.read(padded(R"({"at":1700000000})").record()));
  EXPECT_FALSE(rule.read(padded(R"({"user":"cd","at":"soon"})").record()));
}

TEST(RecordRule, TellsFaultsApart) {
  const auto fault = [](record_rule rule, std::string_view record) {
    const auto read = rule.read(padded(record).record());
    return read ? std::nullopt : std::optional(read.error());
  };
  const auto by_id = [&](std::string_view record) { return fault(record_rule(json("/id"), {}), record); };
  EXPECT_EQ(by_id(R"({"id":)"), record_fault::not_json);
  EXPECT_EQ(by_id(""), record_fault::not_json);
  EXPECT_EQ(by_id("{\"id\":\"\xff\"}"), record_fault::not_utf8);
  EXPECT_EQ(by_id("\xef\xbb\xbf{\"id\":1}"), record_fault::byte_order_mark);
  EXPECT_EQ(by_id(R"({"no":1})"), record_fault::no_key);
  EXPECT_EQ(by_id("12"), record_fault::other_shape);
  const auto timed = [&](std::string_view record) {
    return fault(record_rule(json("/id"), json("/at")), record);
  };
  EXPECT_EQ(timed(R"({"id":1})"), record_fault::no_time);
  EXPECT_EQ(timed(R"({"id":1,"at":true})"), record_fault::time_of_no_type);
  EXPECT_EQ(timed(R"({"id":1,"at":[5]})"), record_fault::time_of_no_type);
  EXPECT_EQ(timed(R"({"id":1,"at":"soon"})"), record_fault::unreadable_time);
  EXPECT_EQ(timed(R"({"at":5})"), record_fault::no_key);
  EXPECT_EQ(timed(R"({"id":1,"at":5})"), std::nullopt);
}

TEST(RecordRule, TakesTheTimeFromAFieldAndTheWholeRecordAsKey) {
  record_rule rule({}, field(2, ' '));
  EXPECT_FALSE(rule.whole_record_is_key());
  const padded record("GET 5 /x");
  const auto parts = rule.read(record.record());
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->key, "GET 5 /x");
  EXPECT_EQ(parts->time.time_since_epoch().count(), 5'000);
  EXPECT_FALSE(rule.read(padded("GET").record()));
}

TEST(RecordRule, CanBeMoved) {
  record_rule first(json("/id"), std::nullopt);
  record_rule second = std::move(first);
  const padded record(R"({"id":"moved"})");
  EXPECT_EQ(second.read(record.record())->key, "moved");
}

}  // namespace
}  // namespace everseen
