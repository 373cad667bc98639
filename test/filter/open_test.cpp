#include <string>

#include <gtest/gtest.h>

#include "everseen/filter/filter.hpp"
#include "everseen/open_store.hpp"

#include "test/support/thrown_message.hpp"

namespace everseen {
namespace {

TEST(Open, NamesTheNearestFilterAndCreatesNone) {
  const auto place = open_store("mem:");
  (void)open_or_create(*place, "clicks");
  (void)open_or_create(*place, "visits");
  for (const access mode : {access::read, access::write})
    EXPECT_EQ(test::message_of<no_filter>([&] { (void)open(*place, "clikcs", mode); }),
              "there is no filter named 'clikcs'; did you mean 'clicks'?");
  EXPECT_EQ(test::message_of<no_filter>([&] { (void)open(*place, "orders"); }),
            "there is no filter named 'orders'; everseen list shows those that there are, everseen create "
            "orders makes one");
  EXPECT_EQ(place->list().size(), 2U);
  EXPECT_NO_THROW((void)open(*place, "clicks"));
}

}  // namespace
}  // namespace everseen
