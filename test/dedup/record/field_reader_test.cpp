#include "everseen/dedup/record/field_reader.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/block_reader.hpp"

namespace everseen {
namespace {

using kind = field_rule::kind;

field_rule field_rule_of(unsigned number, char delimiter = '\t') {
  return {kind::delimited, number, delimiter, {}};
}
field_rule json_rule(std::string pointer) {
  return {kind::json, 0, '\t', std::move(pointer)};
}

/// A record with exactly the padding that the rule may read, filled with bytes that mislead a parser.
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

std::optional<std::string> value(const field_rule& rule, std::string_view record) {
  field_reader reader({rule});
  const padded bytes(record);
  const auto values = reader.read(bytes.record());
  if (!values || values->front().data() == nullptr) return std::nullopt;
  return std::string(values->front());
}

// Promise: an empty field is a key (dedup, Keys and records).
TEST(FieldReader, ReadsAField) {
  EXPECT_EQ(value(field_rule_of(1), "a\tb\tc"), "a");
  EXPECT_EQ(value(field_rule_of(2), "a\tb\tc"), "b");
  EXPECT_EQ(value(field_rule_of(3), "a\tb\tc"), "c");
  EXPECT_EQ(value(field_rule_of(4), "a\tb\tc"), std::nullopt);
  EXPECT_EQ(value(field_rule_of(1), ""), "");
  EXPECT_EQ(value(field_rule_of(2), ""), std::nullopt);
  EXPECT_EQ(value(field_rule_of(2), "a\t\tc"), "") << "an empty field is a key";
  EXPECT_EQ(value(field_rule_of(3), "a\tb\t"), "");
  EXPECT_EQ(value(field_rule_of(2, ','), "a\tb,c\td,e"), "c\td");
  EXPECT_EQ(value(field_rule_of(2, '\0'), std::string_view("a\0b\0c", 5)), "b");
  EXPECT_EQ(value(field_rule_of(2, ' '), "a  b"), "") << "delimiters are not merged";
}

TEST(FieldReader, ReadsAFieldBetweenDelimitersOfSeveralBytes) {
  const auto field = [](unsigned number) {
    return field_rule{kind::delimited, number, field_delimiter("||"), {}};
  };
  EXPECT_EQ(value(field(1), "a||b||c"), "a");
  EXPECT_EQ(value(field(2), "a||b||c"), "b");
  EXPECT_EQ(value(field(3), "a||b||c"), "c");
  EXPECT_EQ(value(field(4), "a||b||c"), std::nullopt);
  EXPECT_EQ(value(field(2), "a|b"), std::nullopt) << "half of one is none";
  EXPECT_EQ(value(field(2), "a|||b"), "|b") << "the first place counts";
  EXPECT_EQ(value(field(2), "a||"), "");
  EXPECT_EQ(value(field(2), ""), std::nullopt);
}

TEST(FieldReader, RefusesFieldZero) {
  EXPECT_THROW(field_reader({field_rule_of(0)}), parameter_error);
}

// Promise: a JSON value other than a string is its text as it stands (dedup, Keys and records).
TEST(FieldReader, ReadsAJsonValue) {
  constexpr std::string_view record =
      R"({"id":"k1","n":12.50,"t":true,"f":false,"z":null,"big":123456789012345678901234567890,)"
      R"("user":{"id":7,"tags":["a","b",{"deep":"x"}]},"empty":"","sp": 5 ,"last":-1})";
  EXPECT_EQ(value(json_rule("/id"), record), "k1");
  EXPECT_EQ(value(json_rule("/n"), record), "12.50") << "the text of a number";
  EXPECT_EQ(value(json_rule("/t"), record), "true");
  EXPECT_EQ(value(json_rule("/f"), record), "false");
  EXPECT_EQ(value(json_rule("/z"), record), "null");
  EXPECT_EQ(value(json_rule("/big"), record), "123456789012345678901234567890");
  EXPECT_EQ(value(json_rule("/user/id"), record), "7");
  EXPECT_EQ(value(json_rule("/user/tags/1"), record), "b");
  EXPECT_EQ(value(json_rule("/user/tags/2/deep"), record), "x");
  EXPECT_EQ(value(json_rule("/user/tags"), record), R"(["a","b",{"deep":"x"}])");
  EXPECT_EQ(value(json_rule("/empty"), record), "");
  EXPECT_EQ(value(json_rule("/sp"), record), "5");
  EXPECT_EQ(value(json_rule("/last"), record), "-1");
  EXPECT_EQ(value(json_rule("/missing"), record), std::nullopt);
  EXPECT_EQ(value(json_rule("/user/missing"), record), std::nullopt);
  EXPECT_EQ(value(json_rule("/user/tags/3"), record), std::nullopt);
  EXPECT_EQ(value(json_rule("/user/tags/x"), record), std::nullopt);
  EXPECT_EQ(value(json_rule("/id/0"), record), std::nullopt);
}

// Promise: a JSON string gives its unescaped bytes (dedup, Keys and records).
TEST(FieldReader, UnescapesJsonStrings) {
  EXPECT_EQ(value(json_rule("/a"), R"({"a":"x\"\\\/\n\u00e9\ud83d\ude00"})"),
            "x\"\\/\n\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(value(json_rule("/a"), R"({"a":"\u0000"})"), std::string(1, '\0'));
  EXPECT_EQ(value(json_rule("/a"), "{\"a\":\"\xc3\xa9\"}"), value(json_rule("/a"), R"({"a":"\u00e9"})"));
  EXPECT_EQ(value(json_rule("/a"), R"({"a":"\ud83d"})"), std::nullopt) << "half a surrogate pair is not text";
}

TEST(FieldReader, UnescapesJsonPointers) {
  EXPECT_EQ(value(json_rule("/a~1b"), R"({"a/b":1})"), "1");
  EXPECT_EQ(value(json_rule("/a~0b"), R"({"a~b":2})"), "2");
  EXPECT_EQ(value(json_rule("/~01"), R"({"~1":3})"), "3");
  EXPECT_EQ(value(json_rule("/"), R"({"":4})"), "4");
  EXPECT_EQ(value(json_rule("/a b"), R"({"a b":5})"), "5");
}

// Promise: names of members are compared as they read, however they are written (dedup, Keys and records).
TEST(FieldReader, FindsNamesThatAreWrittenWithEscapes) {
  EXPECT_EQ(value(json_rule("/\xe7\x94\xa8"), R"({"\u7528":1})"), "1");
  EXPECT_EQ(value(json_rule("/\xe7\x94\xa8"), "{\"\xe7\x94\xa8\":1}"), "1");
  EXPECT_EQ(value(json_rule("/\xf0\x9f\x98\x80"), R"({"\ud83d\ude00":2})"), "2");
  EXPECT_EQ(value(json_rule("/ab"), R"({"a":0,"a\u0062":3})"), "3");
  EXPECT_EQ(value(json_rule("/a~1b"), R"({"x":"\/","a\/b":4})"), "4") << "as PHP writes it";
  EXPECT_EQ(value(json_rule("/a\"b"), R"({"a\"b":5})"), "5");
  EXPECT_EQ(value(json_rule("/a\\b"), R"({"a\\b":6})"), "6");
  EXPECT_EQ(value(json_rule("/a\nb"), R"({"a\nb":7})"), "7");
  EXPECT_EQ(value(json_rule("/u/\xc3\xa9/1/id"), R"({"u":{"\u00e9":[0,{"\u0069d":"deep"}]}})"), "deep");
  EXPECT_EQ(value(json_rule("/id"), R"({"\ud800":1,"\x":2,"id":8})"), "8") << "names that are no text";
}

TEST(FieldReader, TakesNoBytesOfADocumentForAName) {
  EXPECT_EQ(value(json_rule(R"(/a\u0062)"), R"({"a\u0062":1})"), std::nullopt) << "the name is ab";
  EXPECT_EQ(value(json_rule(R"(/x":"b)"), R"({"x":"b"})"), std::nullopt);
  EXPECT_EQ(value(json_rule(R"(/x":"b)"), R"({"x\":\"b":1})"), "1");
}

TEST(FieldReader, FindsSeveralNamesThatAreWrittenWithEscapes) {
  field_reader reader({json_rule("/\xc3\xa9"), json_rule("/id"), json_rule("/o/\xc3\xa9")});
  const padded record(R"({"o":{"n":"\n","\u00e9":"c"},"\u0069\u0064":"b","\u00e9":"a\u00e9"})");
  const auto values = reader.read(record.record());
  ASSERT_TRUE(values);
  EXPECT_EQ((*values)[0], "a\xc3\xa9");
  EXPECT_EQ((*values)[1], "b");
  EXPECT_EQ((*values)[2], "c");
}

// Promise: of two equal names in an object the first counts (dedup, Keys and records).
TEST(FieldReader, TakesTheFirstOfEqualNames) {
  EXPECT_EQ(value(json_rule("/id"), R"({"id":1,"id":2})"), "1");
  EXPECT_EQ(value(json_rule("/id"), R"({"\u0069d":1,"id":2})"), "1");
}

TEST(FieldReader, RefusesInvalidJsonPointers) {
  for (const char* pointer : {"", "a", "a/b", "/~", "/a~", "/~2", "/a/~x/b"})
    EXPECT_THROW(field_reader({json_rule(pointer)}), parameter_error) << pointer;
}

TEST(FieldReader, ReadsNumbers) {
  for (const std::string number : {"0", "-0", "10", "-1.5", "0.0", "1e5", "1E+5", "1.25e-300", "1e999"})
    EXPECT_EQ(value(json_rule("/n"), "{\"n\":" + number + "}"), number);
  for (const std::string none : {"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "1_0", "--1"})
    EXPECT_EQ(value(json_rule("/n"), "{\"n\":" + none + "}"), std::nullopt) << none;
}

TEST(FieldReader, ReadsArraysAtTheTop) {
  EXPECT_EQ(value(json_rule("/1"), R"([10,20,30])"), "20");
  EXPECT_EQ(value(json_rule("/0/id"), R"([{"id":"a"}])"), "a");
}

TEST(FieldReader, FindsNoKeyInDamagedJson) {
  const std::string whole = R"({"first":"one","id":12345,"user":{"name":"x\ty"},"rest":[1,2,3]})";
  ASSERT_EQ(value(json_rule("/id"), whole), "12345");
  for (std::size_t length = 0; length < whole.size(); ++length)
    if (length == 0 || whole[length - 1] != '}') {  // an inner brace looks like the end; no more is promised
      EXPECT_EQ(value(json_rule("/id"), whole.substr(0, length)), std::nullopt) << whole.substr(0, length);
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
    EXPECT_EQ(value(json_rule("/id"), damaged), std::nullopt) << damaged;
}

// Promise: JSON is read up to the last field that is asked for (dedup, Keys and records).
TEST(FieldReader, FindsAKeyBeforeDamagedJson) {
  for (const char* damaged : {"{\"id\":1}{}", "{\"id\":1}}", "{\"x\":trrue,\"id\":1}"})
    EXPECT_EQ(value(json_rule("/id"), damaged), "1") << damaged;
}

TEST(FieldReader, DoesNotReadTheNextRecord) {
  EXPECT_EQ(value(json_rule("/x"), R"({"id":5})"), std::nullopt);
  EXPECT_EQ(value(json_rule("/id"), ""), std::nullopt);
}

TEST(FieldReader, IgnoresACarriageReturnAfterJson) {
  EXPECT_EQ(value(json_rule("/id"), "{\"id\":5}\r"), "5");
}

TEST(FieldReader, ReadsLongRecords) {
  const std::string record = "{\"pad\":\"" + std::string(1 << 20, 'x') + "\",\"id\":\"end\"}";
  EXPECT_EQ(value(json_rule("/id"), record), "end");
}

TEST(FieldReader, DistinguishesFaults) {
  const auto fault = [](std::string_view record) {
    const auto values = field_reader({json_rule("/id")}).read(padded(record).record());
    return values ? std::nullopt : std::optional(values.error());
  };
  EXPECT_EQ(fault(R"({"id":)"), record_fault::not_json);
  EXPECT_EQ(fault(""), record_fault::not_json);
  for (const char* none : {"not json", "nul", "12a", "\"open", "-"})
    EXPECT_EQ(fault(none), record_fault::not_json) << none;
  for (const char* of_no_fields : {"null", "12 ", "\"id\"", "true"})
    EXPECT_EQ(fault(of_no_fields), std::nullopt) << of_no_fields;
  EXPECT_EQ(fault("{\"id\":\"\xff\"}"), record_fault::not_utf8);
  EXPECT_EQ(fault("\xef\xbb\xbf{\"id\":1}"), record_fault::byte_order_mark);
}

/// The value of a CSV field; "bad quotes" if the record is refused.
std::string csv_field(unsigned number, std::string_view record, char delimiter = ',') {
  field_reader reader({{kind::delimited, number, delimiter, {}, true}});
  const padded bytes(record);
  const auto values = reader.read(bytes.record());
  if (!values) return values.error() == record_fault::bad_quotes ? "bad quotes" : "another fault";
  return values->front().data() == nullptr ? "none" : std::string(values->front());
}

// Promise: a quoted field of CSV may have delimiters, line breaks and doubled quotes in it (dedup, Keys and
// records).
TEST(FieldReader, ReadsQuotedFieldsOfCsv) {
  constexpr std::string_view record = R"(3,"Smith, John","a ""b"" c",,"",x y)";
  EXPECT_EQ(csv_field(1, record), "3");
  EXPECT_EQ(csv_field(2, record), "Smith, John");
  EXPECT_EQ(csv_field(3, record), R"(a "b" c)");
  EXPECT_EQ(csv_field(4, record), "");
  EXPECT_EQ(csv_field(5, record), "");
  EXPECT_EQ(csv_field(6, record), "x y");
  EXPECT_EQ(csv_field(7, record), "none");
  EXPECT_EQ(csv_field(2, "1,\"two\nlines\""), "two\nlines");
  EXPECT_EQ(csv_field(1, R"("""")"), "\"");
  EXPECT_EQ(csv_field(1, R"("""""")"), "\"\"");
  EXPECT_EQ(csv_field(2, "\"a;b\";c", ';'), "c");
}

TEST(FieldReader, TreatsACarriageReturnAsPartOfTheLineBreakOfCsv) {
  EXPECT_EQ(csv_field(2, "a,b\r"), "b");
  EXPECT_EQ(csv_field(2, "a,\"b\"\r"), "b");
  EXPECT_EQ(csv_field(2, "a,\"b\r\"\r"), "b\r");
  EXPECT_EQ(value(field_rule_of(2, ','), "a,b\r"), "b\r") << "only of CSV";
}

// Promise: a quotation mark where CSV allows none is an error, wherever it stands (dedup, Keys and records).
TEST(FieldReader, RefusesInvalidQuotesOfCsv) {
  for (const std::string_view record :
       {R"(a,5" pipe)", R"("a"b,c)", R"(a,"b)", R"(")", R"(""")", R"(a"b",c)", R"("a" ,b)", R"( "a",b)"})
    for (const unsigned number : {1U, 2U, 9U}) EXPECT_EQ(csv_field(number, record), "bad quotes") << record;
}

TEST(FieldReader, ReadsSeveralQuotedFieldsTogether) {
  field_reader reader({{kind::delimited, 3, ',', {}, true}, {kind::delimited, 1, ',', {}, true}});
  const padded first(R"("x""1",y,"z""2")");
  const auto values = reader.read(first.record());
  ASSERT_TRUE(values);
  EXPECT_EQ((*values)[0], "z\"2");
  EXPECT_EQ((*values)[1], "x\"1");
}

TEST(FieldReader, CanBeMoved) {
  field_reader first({json_rule("/id")});
  field_reader second = std::move(first);
  const padded record(R"({"id":"moved"})");
  EXPECT_EQ(second.read(record.record())->front(), "moved");
}

}  // namespace
}  // namespace everseen
