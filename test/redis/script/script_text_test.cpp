#include "everseen/redis/script/script_text.hpp"

#include <gtest/gtest.h>

namespace everseen::redis::script_text {
namespace {

TEST(ScriptForAnyProbes, IsBuiltOnFirstUse) {
  const for_any_probes all("return $PROBES");
  EXPECT_EQ(all.made(), 0u);
  EXPECT_EQ(all[7].text, "return 7");
  EXPECT_EQ(all[7].sha1, make("return 7").sha1);
  EXPECT_EQ(all[max_probes].text, "return " + std::to_string(max_probes));
  EXPECT_EQ(all.made(), 2u);
}

}  // namespace
}  // namespace everseen::redis::script_text
