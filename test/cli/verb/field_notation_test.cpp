#include "everseen/cli/verb/field_notation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace everseen::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FieldNotation, OfJqAndJsonPathIsAPointer) {
  EXPECT_THAT(fields_meant_by(".user.id"), ElementsAre("/user/id"));
  EXPECT_THAT(fields_meant_by("$.user.id"), ElementsAre("/user/id"));
  EXPECT_THAT(fields_meant_by(".items[0].id"), ElementsAre("/items/0/id"));
  EXPECT_THAT(fields_meant_by(".[\"a b\"].c"), ElementsAre("/a b/c"));
  EXPECT_THAT(fields_meant_by("$['a']['b.c']"), ElementsAre("/a/b.c"));
  EXPECT_THAT(fields_meant_by(".a/b.c~d"), ElementsAre("/a~1b/c~0d"));
  EXPECT_THAT(fields_meant_by(".用"), ElementsAre("/用"));
}

TEST(FieldNotation, OfSortCutAndAwkIsNumbers) {
  EXPECT_THAT(fields_meant_by("1,2"), ElementsAre("1", "2"));
  EXPECT_THAT(fields_meant_by("2,2nr"), ElementsAre("2"));
  EXPECT_THAT(fields_meant_by("2n"), ElementsAre("2"));
  EXPECT_THAT(fields_meant_by("1.3,1.5"), ElementsAre("1"));
  EXPECT_THAT(fields_meant_by("1-3"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(fields_meant_by("$4"), ElementsAre("4"));
}

TEST(FieldNotation, IsNotGuessed) {
  for (const char* text : {"",      ".",    "..",      ".a|.b", ".[]",  ".a[", ".a[]",    ".a[\"\"]",
                           "$",     "$NF",  "0",       "3,1",   "1,",   "-1",  "1-99999", "99999999999999",
                           "1,2,x", "id",   "user.id", "1x",    ".a b", "$.",  "[",       "]",
                           "1.",    "1..2", ".a..b"})
    if (std::string(text) != "1.") {
      EXPECT_THAT(fields_meant_by(text), IsEmpty()) << text;
    }
}

}  // namespace
}  // namespace everseen::cli
