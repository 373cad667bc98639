#include "everseen/foreign/attached/attached_scripts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/layout/layout.hpp"

namespace everseen::foreign {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(AttachedScripts, AreMadeOnceForANumberOfProbes) {
  EXPECT_EQ(&attached_scripts::add(7), &attached_scripts::add(7));
  EXPECT_NE(attached_scripts::add(7).sha1, attached_scripts::add(8).sha1);
  EXPECT_NE(attached_scripts::check(7).sha1, attached_scripts::check(8).sha1);
}

TEST(AttachedScripts, AreCompleteForAnyNumberOfProbes) {
  for (unsigned probes = 1; probes <= max_probes; ++probes) {
    for (const redis::script* each : {&attached_scripts::add(probes), &attached_scripts::check(probes)}) {
      EXPECT_THAT(each->text, Not(HasSubstr("$")));
      EXPECT_EQ(each->sha1, redis::make_script(each->text).sha1);
    }
  }
  const std::string last = ",p" + std::to_string(max_probes);
  EXPECT_THAT(attached_scripts::add(max_probes).text, HasSubstr(last));
  EXPECT_THAT(attached_scripts::check(max_probes - 1).text, Not(HasSubstr(last)));
}

}  // namespace
}  // namespace everseen::foreign
