#include "everseen/serve/http/json_body.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/http/http_message.hpp"

namespace everseen::serve {
namespace {

using namespace std::chrono_literals;

template <typename Call>
http_problem problem_in(Call call) {
  try {
    call();
  } catch (const http_problem& p) {
    return p;
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

TEST(JsonBody, ReturnsEachFieldByItsType) {
  json_body body(R"({"name":"caf\u00e9","n":-7,"rate":1e-6,"keys":["a",""],"s":90,"m":"10m"})");
  EXPECT_EQ(body.text("name"), "café");
  EXPECT_EQ(body.integer("n", {-10, 10}), -7);
  EXPECT_EQ(body.rate("rate", {}), 1e-6);
  EXPECT_THAT(*body.texts("keys", 2), testing::ElementsAre("a", ""));
  EXPECT_EQ(body.duration("s"), 90s);
  EXPECT_EQ(body.duration("m"), 10min);
  EXPECT_EQ(body.text("missing"), std::nullopt);
  body.must_be_all_taken();
}

TEST(JsonBody, AcceptsQuantitiesAsTheCommandLineDoes) {
  json_body body(
      R"({"a":10000,"b":"10k","c":1e4,"d":"1e4","e":1.5,"f":"many","g":-1,"rate":"0.1%","bad":"2"})");
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_EQ(body.count(name, {1, 10'000}), 10'000) << name;
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_ANY_THROW((void)body.count(name, {1, 9'999})) << name;
  for (const char* name : {"e", "f", "g"}) EXPECT_ANY_THROW((void)body.count(name, {1, 9})) << name;
  EXPECT_EQ(body.rate("rate", {}), 0.001);
  EXPECT_ANY_THROW((void)body.rate("bad", {}));
}

TEST(JsonBody, DistinguishesNullFromAMissingField) {
  json_body body(R"({"a":null,"b":false,"c":"no"})");
  EXPECT_TRUE(body.is_null("a"));
  EXPECT_FALSE(body.is_null("b"));
  EXPECT_FALSE(body.is_null("d"));
  EXPECT_EQ(body.truth("b"), false);
  EXPECT_EQ(problem_in([&] { (void)body.truth("c"); }).reason, "bad_parameter");
}

TEST(JsonBody, RefusesBodiesThatAreNotObjects) {
  const std::string deep = std::string(1000, '[') + std::string(1000, ']');
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("7"), std::string("{} {}"),
        std::string("{\"a\":\"\xff\"}"), std::string(R"({"a":1,"a":2})"), deep, "{\"a\":" + deep + "}",
        std::string("\xef\xbb\xbf{}")})
    EXPECT_EQ(problem_in([&] { json_body body(text); }).reason, "bad_json") << text.substr(0, 20);
}

TEST(JsonBody, RefusesOtherTypesAndValuesOutOfBounds) {
  json_body body(R"({"text":7,"n":1.5,"big":1e30,"keys":["a",1],"many":["a","b"],"s":0})");
  EXPECT_EQ(problem_in([&] { (void)body.text("text"); }).reason, "bad_parameter");
  EXPECT_EQ(problem_in([&] { (void)body.integer("n", {0, 9}); }).reason, "bad_parameter");
  EXPECT_EQ(problem_in([&] { (void)body.integer("big", {0, INT64_MAX}); }).reason, "bad_parameter");
  EXPECT_EQ(problem_in([&] { (void)body.texts("keys", 9); }).reason, "bad_parameter");
  EXPECT_EQ(problem_in([&] { (void)body.texts("many", 1); }).reason, "bad_parameter");
  EXPECT_EQ(problem_in([&] { (void)body.duration("s"); }).reason, "bad_parameter");
}

TEST(JsonBody, SuggestsTheProbableFieldName) {
  json_body body(R"({"capacty":5})");
  (void)body.integer("capacity", {0, 9});
  const http_problem p = problem_in([&] { body.must_be_all_taken(); });
  EXPECT_EQ(p.reason, "unknown_field");
  EXPECT_THAT(p.detail, testing::HasSubstr("did you mean capacity?"));
}

TEST(JsonBody, RefusesManyValuesInALongBodyBeforeTheyTakeMemory) {
  const auto body_of = [](std::size_t values) {
    std::string body = R"({"pad":")" + std::string(2 << 20, ',') + R"(","n":[0)";
    for (std::size_t i = 1; i < values; ++i) body += ",0";
    return body + "]}";
  };
  EXPECT_EQ(problem_in([&] { json_body(body_of(2'000), 1'000); }).reason, "bad_json");
  EXPECT_NO_THROW(json_body(body_of(1'000), 1'000));
}

}  // namespace
}  // namespace everseen::serve
