#include "everseen/foreign/attached/probe_scripts.hpp"

#include <gtest/gtest.h>

namespace everseen::foreign {
namespace {

TEST(ScriptForAnyProbes, IsMadeOnceForANumber) {
  const for_any_probes all("return $PROBES");
  EXPECT_EQ(all[7].text, "return 7");
  EXPECT_EQ(all[7].sha1, redis::make_script("return 7").sha1);
  EXPECT_EQ(all[max_probes].text, "return " + std::to_string(max_probes));
  EXPECT_EQ(&all[7], &all[7]);
}

}  // namespace
}  // namespace everseen::foreign
