#include "everseen/dedup/record/event_rule.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/block_reader.hpp"

namespace everseen {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;

field_rule pointer_rule(std::string pointer) {
  return {field_rule::kind::json, 0, '\t', std::move(pointer)};
}
field_rule column_rule(unsigned number) {
  return {field_rule::kind::delimited, number, ',', {}};
}

/// The key, and the names of all counters; or the fault of the record.
std::vector<std::string> read(const event_shape& shape, std::string_view record) {
  event_rule rule(shape);
  const std::string padded = std::string(record) + std::string(block_reader::padding, '"');
  const auto event = rule.read(std::string_view(padded).substr(0, record.size()));
  if (!event) return {std::string(to_string(event.error()))};
  std::vector<std::string> parts = {std::string(event->key)};
  for (std::size_t set = 0; set < shape.counts.size(); ++set) parts.emplace_back(rule.counter(set));
  return parts;
}

TEST(EventRule, UsesTheWholeRecordAsKeyByDefault) {
  EXPECT_THAT(read({}, "any\tbytes"), ElementsAre("any\tbytes"));
}

TEST(EventRule, CountsBySetsOfDimensions) {
  const event_shape shape{
      {pointer_rule("/id")},
      pointer_rule("/time"),
      {{{"time", pointer_rule("/time"), minutes(10)}, {"site", pointer_rule("/site")}}, {}}};
  EXPECT_THAT(read(shape, R"({"site":"news","id":"a","time":"2025-01-01T00:17:03.500Z"})"),
              ElementsAre("a", "0\t2025-01-01T00:10:00Z\tnews", "1"));
}

TEST(EventRule, CountsByTheDaysOfItsZone) {
  const auto read_in = [](const char* zone, std::chrono::milliseconds length, const std::string& time) {
    const event_shape shape{.key = {pointer_rule("/id")},
                            .counts = {{{"day", pointer_rule("/t"), length}}},
                            .times = time_reader("", time_zone::of(zone))};
    return read(shape, R"({"id":"a","t":")" + time + "\"}").back().substr(2);
  };
  const auto day = std::chrono::hours(24);
  EXPECT_EQ(read_in("UTC", day, "2026-11-25T23:30:00Z"), "2026-11-25");
  EXPECT_EQ(read_in("+01:00", day, "2026-11-25T23:30:00Z"), "2026-11-26");
  EXPECT_EQ(read_in("-08:00", day, "2026-11-26T07:59:59Z"), "2026-11-25");
  EXPECT_EQ(read_in("+01:00", minutes(60), "2026-11-25T23:30:00Z"), "2026-11-25T23:00:00Z")
      << "hours are of UTC";
  // The clocks of Berlin were set forward on March 29th of 2026, a day of 23 hours, and back on October 25th.
  EXPECT_EQ(read_in("Europe/Berlin", day, "2026-03-28T23:00:00Z"), "2026-03-29");
  EXPECT_EQ(read_in("Europe/Berlin", day, "2026-03-29T21:59:59Z"), "2026-03-29");
  EXPECT_EQ(read_in("Europe/Berlin", day, "2026-03-29T22:00:00Z"), "2026-03-30");
  EXPECT_EQ(read_in("Europe/Berlin", day, "2026-10-24T22:00:00Z"), "2026-10-25");
  EXPECT_EQ(read_in("Europe/Berlin", day, "2026-10-25T22:59:59Z"), "2026-10-25");
  EXPECT_EQ(read_in("Europe/Berlin", day, "2026-10-25T23:00:00Z"), "2026-10-26");
}

TEST(EventRule, KeepsTheDayOfTheEventBefore) {
  event_rule rule({.key = {column_rule(1)},
                   .counts = {{{"day", column_rule(2), std::chrono::hours(24)}}},
                   .times = time_reader("", time_zone::of("Europe/Berlin"))});
  const auto day_of = [&](const std::string& time) {
    const std::string record = "a," + time, padded = record + std::string(block_reader::padding, '"');
    EXPECT_TRUE(rule.read(std::string_view(padded).substr(0, record.size())));
    return std::string(rule.counter(0)).substr(2);
  };
  EXPECT_EQ(day_of("2026-03-29T21:59:59Z"), "2026-03-29");
  EXPECT_EQ(day_of("2026-03-29T22:00:00Z"), "2026-03-30");
  EXPECT_EQ(day_of("2026-03-28T23:00:00Z"), "2026-03-29");
  EXPECT_EQ(day_of("2026-03-28T22:59:59Z"), "2026-03-28");
}

TEST(EventRule, FindsFieldsInObjectsAndArraysAtAnyDepth) {
  const event_shape shape{{pointer_rule("/user/id"), pointer_rule("/tags/1"), pointer_rule("/a~1b")}, {}, {}};
  EXPECT_THAT(read(shape, R"({"x":[{"id":0}],"a/b":true,"tags":["p","q"],"user":{"name":"n","id":7}})"),
              ElementsAre("7\x1fq\x1ftrue"));
}

TEST(EventRule, FindsNamesThatAreWrittenWithEscapes) {
  const event_shape shape{
      {pointer_rule("/\xe7\x94\xa8")},
      pointer_rule("/\xe6\x97\xb6"),
      {{{"time", pointer_rule("/\xe6\x97\xb6"), minutes(10)}, {"site", pointer_rule("/s/\xe7\xab\x99")}}}};
  EXPECT_THAT(read(shape, R"({"s":{"\u7ad9":"news"},"\u7528":"a","\u65f6":"2025-01-01T00:17:03.500Z"})"),
              ElementsAre("a", "0\t2025-01-01T00:10:00Z\tnews"));
}

TEST(EventRule, UsesTheFirstOfARepeatedName) {
  EXPECT_THAT(read({{pointer_rule("/a/b")}, {}, {}}, R"({"a":{"c":1},"a":{"b":2}})"),
              ElementsAre("has no key"));
  EXPECT_THAT(read({{pointer_rule("/a")}, {}, {}}, R"({"a":1,"a":2})"), ElementsAre("1"));
}

TEST(EventRule, KeysOfSeveralFieldsAreNeverAmbiguous) {
  const event_shape shape{{column_rule(1), column_rule(2)}, {}, {}};
  EXPECT_THAT(read(shape, "a,b"), ElementsAre("a\x1f"
                                              "b"));
  EXPECT_THAT(read(shape, "a\x1f,b"), ElementsAre("a\\\x1f\x1f"
                                                  "b"));
  EXPECT_THAT(read(shape, "a\\,b"), ElementsAre("a\\\\\x1f"
                                                "b"));
}

TEST(EventRule, CountsAMissingFieldAsAnEmptyValue) {
  EXPECT_THAT(read({{column_rule(1)}, {}, {{{"x", column_rule(3)}}}}, "a,b"), ElementsAre("a", "0\t"));
  EXPECT_THAT(read({{pointer_rule("/a")}, {}, {{{"x", pointer_rule("/b/c")}}}}, R"({"a":1,"b":null})"),
              ElementsAre("1", "0\t"));
}

TEST(EventRule, ReportsTheFaultOfARecord) {
  const event_shape shape{
      {pointer_rule("/id")}, pointer_rule("/time"), {{{"day", pointer_rule("/at"), std::chrono::hours(24)}}}};
  EXPECT_THAT(read(shape, R"({"time":1,"at":1})"), ElementsAre("has no key"));
  EXPECT_THAT(read(shape, R"({"id":null,"time":1,"at":1})"), ElementsAre("has null for a key"));
  EXPECT_THAT(read(shape, R"({"id":1,"at":1})"), ElementsAre("has no time"));
  EXPECT_THAT(read(shape, R"({"id":1,"time":"noon","at":1})"), ElementsAre("has a time that cannot be read"));
  EXPECT_THAT(read(shape, R"({"id":1,"time":1})"), ElementsAre("has no time"));
  EXPECT_THAT(read(shape, R"({"id":1,"time":1,"at":-62200000000})"),
              ElementsAre("has a time that cannot be read"));
  EXPECT_THAT(read(shape, R"({"id":1,)"), ElementsAre("is not JSON"));
  EXPECT_THAT(read(shape, R"({"id":nul,"time":1,"at":1})"), ElementsAre("is not JSON"));
  EXPECT_THAT(read(shape, ""), ElementsAre("is blank"));
  EXPECT_THAT(read(shape, "7"), ElementsAre("has no key"));
}

TEST(EventRule, NamesTheFaultyField) {
  event_rule rule({{pointer_rule("/id")}, pointer_rule("/time"), {}});
  const auto refuse = [&](std::string record) {
    const std::size_t size = record.size();
    record.append(block_reader::padding, '"');
    EXPECT_FALSE(rule.read(std::string_view(record).substr(0, size)));
    const auto fault = rule.at_fault();
    return fault.field + (fault.value.data() == nullptr ? "" : "=" + std::string(fault.value));
  };
  EXPECT_EQ(refuse(R"({"id":1,"time":"noon"})"), "/time=noon");
  EXPECT_EQ(refuse(R"({"time":1})"), "/id");
  EXPECT_EQ(refuse(R"({"id":null,"time":1})"), "/id=null");
  EXPECT_EQ(refuse("{no event"), "");
}

TEST(EventRule, ReportsCountedFieldsThatNoRecordHad) {
  event_rule rule(
      {{column_rule(1)}, {}, {{{"a", column_rule(2)}, {"b", column_rule(3)}}, {{"c", column_rule(4)}}}});
  EXPECT_TRUE(rule.read("1,x"));
  EXPECT_THAT(rule.absent(), ElementsAre("3", "4"));
  EXPECT_TRUE(rule.read("1,x,"));
  EXPECT_THAT(rule.absent(), ElementsAre("4"));
}

TEST(EventRule, RefusesAValueTooLongForTheNameOfACounter) {
  const event_shape shape{{column_rule(1)}, {}, {{{"x", column_rule(2)}}}};
  EXPECT_THAT(read(shape, "a," + std::string(event_rule::max_value_bytes, 'x')), testing::SizeIs(2));
  EXPECT_THAT(read(shape, "a," + std::string(event_rule::max_value_bytes + 1, 'x')),
              ElementsAre("has a value of more than 1024 bytes to be counted by"));
}

TEST(EventRule, CutsTimesBeforeTheEpochDownwards) {
  const event_shape shape{{column_rule(1)}, {}, {{{"t", column_rule(2), minutes(1)}}}};
  EXPECT_THAT(read(shape, "a,1969-12-31T23:59:30Z"), ElementsAre("a", "0\t1969-12-31T23:59:00Z"));
}

TEST(EventRule, RefusesFieldsThatNoRecordCanHaveTogether) {
  EXPECT_THROW(event_rule({{pointer_rule("/a")}, column_rule(1), {}}), parameter_error);
  EXPECT_THROW(event_rule({{pointer_rule("/a"), pointer_rule("/a/b")}, {}, {}}), parameter_error);
  EXPECT_THROW(event_rule({{pointer_rule("/a/b"), pointer_rule("/a")}, {}, {}}), parameter_error);
  EXPECT_THROW(event_rule({{pointer_rule("a")}, {}, {}}), parameter_error);
  EXPECT_THROW(event_rule({{column_rule(0)}, {}, {}}), parameter_error);
  EXPECT_NO_THROW(event_rule({{pointer_rule("/a")}, pointer_rule("/a"), {{{"a", pointer_rule("/a")}}}}));
}

TEST(CounterName, IsReadBackWithAnyBytesInItsValues) {
  const std::string hostile = "tab\tand\\x09\n\x01\x7f\xff";
  const event_shape shape{{column_rule(1)}, {}, {{}, {{"x", column_rule(2)}, {"y", column_rule(3)}}}};
  const auto parts = read(shape, "k," + hostile + ",");
  ASSERT_EQ(parts.size(), 3U);
  const auto total = parse_counter(parts[1]);
  ASSERT_TRUE(total);
  EXPECT_EQ(total->set, 0U);
  EXPECT_TRUE(total->values.empty());
  const auto read_back = parse_counter(parts[2]);
  ASSERT_TRUE(read_back);
  EXPECT_EQ(read_back->set, 1U);
  EXPECT_THAT(read_back->values, ElementsAre(hostile, ""));
}

TEST(CounterName, IsRefusedWhereNoRuleMadeIt) {
  for (const std::string_view name :
       {"", "x", "-1", "1x\ty", "1\t\\", "1\t\\x1", "1\t\\xzz", "99999999999999999999"})
    EXPECT_FALSE(parse_counter(name)) << name;
}

TEST(EventRule, AcceptsANullAsKeyOnlyOnRequest) {
  EXPECT_THAT(read({{pointer_rule("/id")}, {}, {}}, R"({"id":null})"), ElementsAre("has null for a key"));
  EXPECT_THAT(read({{pointer_rule("/id")}, {}, {}, true}, R"({"id":null})"), ElementsAre("null"));
}

TEST(EventRule, ReadsKeyAndTimeFromTheSameDocument) {
  event_rule rule({{pointer_rule("/user")}, pointer_rule("/at"), {}});
  EXPECT_FALSE(rule.whole_record_is_key());
  EXPECT_TRUE(rule.has_time());
  const auto time_of = [&](std::string record) -> std::int64_t {
    record.append(block_reader::padding, '"');
    const auto event = rule.read(std::string_view(record).substr(0, record.size() - block_reader::padding));
    return event ? event->time.time_since_epoch().count() : -1;
  };
  EXPECT_EQ(time_of(R"({"at":1700000000,"user":"a"})"), 1'700'000'000'000);
  EXPECT_EQ(time_of(R"({"user":"cd","at":"2023-11-14T22:13:20.5Z"})"), 1'700'000'000'500);
  EXPECT_EQ(time_of(R"({"user":"cd"})"), -1);
  EXPECT_EQ(time_of(R"({"at":1700000000})"), -1);
  for (const char* none : {R"("soon")", "true", "null", "[5]"})
    EXPECT_EQ(time_of(R"({"user":"cd","at":)" + std::string(none) + "}"), -1) << none;
}

TEST(EventRule, ReadsTheTimeFromAFieldAndUsesTheWholeRecordAsKey) {
  const event_shape shape{{}, field_rule{field_rule::kind::delimited, 2, ' ', {}}, {}};
  EXPECT_FALSE(event_rule(shape).whole_record_is_key());
  EXPECT_TRUE(event_rule(event_shape{}).whole_record_is_key());
  EXPECT_THAT(read(shape, "GET 5 /x"), ElementsAre("GET 5 /x"));
  EXPECT_THAT(read(shape, "GET"), ElementsAre("has no time"));
}

TEST(EventRule, UsesAWholeRecordOfCsvAsKeyWithoutTheEndOfItsLine) {
  event_shape shape{};
  shape.csv = ',';
  EXPECT_FALSE(event_rule(shape).whole_record_is_key());
  EXPECT_THAT(read(shape, "1,\"a\"\r"), ElementsAre("1,\"a\""));
  EXPECT_THAT(read(shape, "1,\"a\""), ElementsAre("1,\"a\""));
  EXPECT_THAT(read(shape, "\r"), ElementsAre("")) << "no field is read";
  EXPECT_THAT(read(shape, "1,5\" pipe"), ElementsAre(testing::HasSubstr("has a quotation mark")));
}

}  // namespace
}  // namespace everseen
