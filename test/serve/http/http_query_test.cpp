#include "everseen/serve/http/http_query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/serve/http/http_message.hpp"

namespace everseen::serve {
namespace {

TEST(HttpQuery, DecodesAddresses) {
  EXPECT_EQ(decoded_address("a+b%2B", true), "a b+");
  EXPECT_EQ(decoded_address("a+b%2B", false), "a+b+");
  EXPECT_THROW((void)decoded_address("%zz", false), http_problem);
}

TEST(HttpQuery, ReturnsEachParameterByItsType) {
  query_parameters q("n=5&x=1e-3&key=a%26b&&empty=");
  EXPECT_EQ(q.integer("n", 1, 9), 5);
  EXPECT_EQ(q.positive("x"), 1e-3);
  EXPECT_EQ(q.text("key"), "a&b");
  EXPECT_EQ(q.text("empty"), "");
  q.must_be_all_taken();
}

TEST(HttpQuery, RefusesInvalidQueries) {
  EXPECT_THROW(query_parameters("a=1&a=2"), http_problem);
  EXPECT_THROW((void)query_parameters("n=10").integer("n", 1, 9), http_problem);
  EXPECT_THROW((void)query_parameters("x=-1").positive("x"), http_problem);
  EXPECT_THROW((void)query_parameters("x=inf").positive("x"), http_problem);
  query_parameters left("limt=5");
  (void)left.integer("limit", 1, 9);
  EXPECT_THROW(left.must_be_all_taken(), http_problem);
}

}  // namespace
}  // namespace everseen::serve
