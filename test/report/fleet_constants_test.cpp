#include "everseen/report/fleet_constants.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/text/json.hpp"

namespace everseen {
namespace {

TEST(FleetConstants, EachHasANameADescriptionAndASource) {
  std::set<std::string_view> names;
  for (const fleet_constant& c : all_fleet_constants()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name;
    EXPECT_FALSE(c.meaning.empty() || c.source.empty()) << c.name;
  }
  EXPECT_EQ(sizeof(fleet_constants), names.size() * sizeof(double)) << "a constant is not in the table";
}

TEST(FleetConstants, AreReadFromTheOutputOfBench) {
  const fleet_constants read = read_fleet_constants(R"({"keys": 5, "constants": {"module_fresh_us": 1.5}})");
  EXPECT_EQ(read.module_fresh_us, 1.5);
  EXPECT_EQ(read.module_repeat_us, fleet_constants{}.module_repeat_us) << "not given";
}

TEST(FleetConstants, AreReadFromTheOutputOfPlan) {
  fleet_constants some;
  some.network_gbit = 25;
  const nlohmann::ordered_json printed = {{"constants", json_of(some)}};
  EXPECT_EQ(printed["constants"]["network_gbit"]["source"], "given");
  const fleet_constants read = read_fleet_constants(printed.dump());
  for (const fleet_constant& c : all_fleet_constants()) EXPECT_EQ(read.*c.value, some.*c.value) << c.name;
}

TEST(FleetConstants, AreRefusedWithTheReason) {
  const auto refusal = [](std::string_view json) {
    try {
      static_cast<void>(read_fleet_constants(json));
    } catch (const parameter_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal("{"), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal("[]"), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal(R"({"constants": 1})"), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal(R"({"constants": {"speed": 1}})"), HasSubstr("none called speed"));
  EXPECT_THAT(refusal(R"({"constants": {"most_share": "1"}})"), HasSubstr("most_share is no number"));
  EXPECT_THAT(refusal(R"({"constants": {"most_share": -1}})"),
              HasSubstr("most_share must be from 0.001 to 1"));
  EXPECT_THAT(refusal(R"({"constants": {"most_share": 1.5}})"), HasSubstr("most_share must be"));
  EXPECT_THAT(refusal(R"({"constants": {"copied_share": 2}})"),
              HasSubstr("copied_share must be from 0 to 1"));
  EXPECT_THAT(refusal(R"({"constants": {"batch_keys": 0.5}})"), HasSubstr("batch_keys must be from 1 to"));
  EXPECT_THAT(refusal(R"({"constants": {"module_fresh_us": 1e300}})"), HasSubstr("module_fresh_us must be"));
}

TEST(FleetConstants, HaveDefaultsWithinTheirBounds) {
  const fleet_constants standard;
  for (const fleet_constant& c : all_fleet_constants()) {
    EXPECT_GE(standard.*c.value, c.least) << c.name;
    EXPECT_LE(standard.*c.value, c.most) << c.name;
  }
}

}  // namespace
}  // namespace everseen
