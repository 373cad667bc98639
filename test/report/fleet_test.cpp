#include "everseen/report/fleet.hpp"

#include <cmath>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

namespace everseen {
namespace {

using testing::HasSubstr;

const fleet_design& design_of(const fleet_plan& plan, std::string_view name) {
  for (const fleet_design& d : plan.designs)
    if (d.name == name) return d;
  throw std::logic_error("no such design");
}

std::string_view picked_of(const fleet_plan& plan) {
  return plan.picked ? plan.designs[*plan.picked].name : "none";
}

/// Round numbers, so that the results can be computed by hand.
const fleet_constants round_constants = {
    {"embedded_us", 0.5},     {"client_fresh_us", 2},  {"client_another_us", 1}, {"client_own_us", 0.2},
    {"client_known_us", 0.1}, {"client_in_bytes", 20}, {"client_out_bytes", 30}, {"client_call_us", 500},
    {"module_fresh_us", 4},   {"module_repeat_us", 3}, {"module_own_us", 0.3},   {"module_in_bytes", 70},
    {"module_call_us", 200},  {"call_own_us", 300},    {"call_bytes", 1000},     {"round_trip_us", 500},
    {"batch_keys", 1000},     {"network_gbit", 8},     {"most_share", 0.5},      {"client_events", 1e9},
    {"client_cores", 8},      {"journal_share", 2},    {"copied_share", 0.5}};

fleet_constants with(std::string_view name, double value) {
  fleet_constants c = round_constants;
  c.find(name)->second = value;
  return c;
}

/// Of 100,000 events a second 50,000 are fresh, from three clients, in 100 batches. One partition.
fleet_request half_fresh() {
  return {.keys = 1'000'000, .per_second = 100'000, .fresh_share = 0.5, .clients = 3, .module = true};
}

TEST(Fleet, OfJudgingClientsHasTheLoadComputedByHand) {
  const fleet_design d = design_of(plan_fleet(half_fresh(), round_constants), "client");
  EXPECT_EQ(d.why_not, "");
  EXPECT_EQ(d.servers, 1);
  EXPECT_EQ(d.partitions, 1);
  // 50,000 x (2 + 2 x 1) us, and each batch twice: 200 calls of 500 us
  EXPECT_DOUBLE_EQ(d.server.cores, 0.3);
  EXPECT_DOUBLE_EQ(d.server.in_bytes, 1'200'000);   // 50,000 x 20 + 200 x 1000
  EXPECT_DOUBLE_EQ(d.server.out_bytes, 3'000'000);  // 50,000 x 2 x 30
  // (50,000 x 0.2 + (50,000 + 2 x 50,000) x 0.1 + 200 x 300) us, shared by three
  EXPECT_DOUBLE_EQ(d.client.cores, 0.085 / 3);
  EXPECT_DOUBLE_EQ(d.client.in_bytes, 1'000'000);
  EXPECT_DOUBLE_EQ(d.client.out_bytes, 400'000);
  const auto bits = static_cast<double>(d.filter_bytes);
  EXPECT_NEAR(bits * 8 / 1e6, 33.5, 1) << "bits a key at 1e-6";
  EXPECT_DOUBLE_EQ(d.client.bytes, bits);
  EXPECT_DOUBLE_EQ(d.server.bytes, (4 << 20) + 2.5 * bits)
      << "bits of 3.99 MiB in 4, a journal of twice the bits, half of the bits copied";
}

TEST(Fleet, JudgedByTheModuleHasTheLoadComputedByHand) {
  const fleet_design d = design_of(plan_fleet(half_fresh(), round_constants), "module");
  EXPECT_EQ(d.servers, 1);
  EXPECT_DOUBLE_EQ(d.server.cores, 0.37);          // 50,000 x (4 + 3) us + 100 x 200 us
  EXPECT_DOUBLE_EQ(d.server.in_bytes, 7'100'000);  // 100,000 x 70 + 100 x 1000
  EXPECT_DOUBLE_EQ(d.server.out_bytes, 100'000);
  EXPECT_DOUBLE_EQ(d.client.cores, 0.02);  // (100,000 x 0.3 + 100 x 300) us / 3
  EXPECT_EQ(d.client.bytes, 0);
  EXPECT_DOUBLE_EQ(d.server.bytes, (4 << 20) + 0.5 * static_cast<double>(d.filter_bytes))
      << "bits of 3.99 MiB in 4, half of them copied";
}

TEST(Fleet, OfOneProcessHasNoServer) {
  fleet_request r = half_fresh();
  r.clients = 1;
  const fleet_plan plan = plan_fleet(r, round_constants);
  EXPECT_EQ(picked_of(plan), "embedded");
  EXPECT_EQ(design_of(plan, "embedded").servers, 0);
  EXPECT_DOUBLE_EQ(design_of(plan, "embedded").client.cores, 0.05);  // 100,000 x 0.5 us
}

TEST(Fleet, PaysNearlyOneCallAKeyWherePartitionsOutnumberTheKeysOfABatch) {
  fleet_constants c = with("batch_keys", 10);
  c["module_call_us"] = 1;
  c["module_fresh_us"] = c["module_repeat_us"] = 1e-9;
  fleet_request r = half_fresh();
  r.keys = 160'000'000'000;
  r.server_bytes = std::uint64_t{1} << 50;
  const fleet_design d = design_of(plan_fleet(r, c), "module");
  EXPECT_NEAR(d.partitions, 160e9 * 33.5 / 8 / (192 << 20), 100);
  EXPECT_NEAR(d.server.cores, 0.1, 0.0005) << "100,000 keys, which rarely meet in a partition";
}

TEST(Fleet, HasAsManyServersAsMemoryCpuAndNetworkRequireWithEqualShares) {
  const auto module = [](const fleet_request& r, const fleet_constants& c = round_constants) {
    fleet_design d = design_of(plan_fleet(r, c), "module");
    EXPECT_EQ(std::fmod(d.partitions, d.servers), 0);
    return d;
  };
  fleet_request r = half_fresh();
  r.per_second = 10'000'000;  // 35 cores, of which half is planned for, and calls for each partition
  const fleet_design busy = module(r);
  EXPECT_EQ(busy.decided_by, "CPU");
  EXPECT_GE(busy.servers, 70);
  EXPECT_LE(busy.server.cores, 0.5);

  r = half_fresh();
  r.keys = 1'000'000'000;
  r.server_bytes = std::uint64_t{1} << 30;
  const fleet_design large = module(r, with("module_call_us", 1e-9));
  EXPECT_EQ(large.decided_by, "memory");
  // 3.9 GiB in 21 strings, which take 192 MiB each, and half of them copied: 5.9 GiB. But six servers would
  // have four strings of 166 MiB each, which take as much.
  EXPECT_EQ(large.servers, 7);

  // A megabyte a second, of which half is planned for; 7 are needed, and calls.
  const fleet_design talking = module(half_fresh(), with("network_gbit", 0.008));
  EXPECT_EQ(talking.decided_by, "network");
  EXPECT_GE(talking.servers, 14);
  EXPECT_LE(talking.server.in_bytes, 500'000);
}

TEST(Fleet, SaysWhatAClientOrAnOrderCannotBear) {
  const auto why_not = [](const fleet_request& r, const fleet_constants& c,
                          std::string_view name = "client") {
    return design_of(plan_fleet(r, c), name).why_not;
  };
  fleet_request r = half_fresh();
  r.client_bytes = std::uint64_t{1} << 20;
  EXPECT_THAT(why_not(r, round_constants), HasSubstr("lacks the memory"));
  EXPECT_EQ(picked_of(plan_fleet(r, round_constants)), "module");
  EXPECT_THAT(why_not(half_fresh(), with("client_cores", 0.01)), HasSubstr("more cores than it has"));
  EXPECT_THAT(why_not(half_fresh(), with("network_gbit", 0.008)),
              HasSubstr("than its network is planned for"));
  EXPECT_THAT(why_not(half_fresh(), with("round_trip_us", 1e6)), HasSubstr("send larger batches"));
  EXPECT_THAT(why_not(half_fresh(), with("client_events", 10'000)),
              HasSubstr("cannot read this many events"));
  r = half_fresh();
  r.keys = 100'000'000'000'000;
  EXPECT_THAT(why_not(r, round_constants, "module"), HasSubstr("more than 4096 servers"));
  EXPECT_EQ(design_of(plan_fleet(r, round_constants), "module").servers, 0);
}

TEST(Fleet, PrefersFewestServersThenTheLeastCpuAmongTheAllowed) {
  fleet_request r = half_fresh();
  EXPECT_EQ(picked_of(plan_fleet(r, round_constants)), "client") << "one server each, with less CPU";
  EXPECT_EQ(picked_of(plan_fleet(r, with("module_fresh_us", 0.5))), "module");
  EXPECT_EQ(picked_of(plan_fleet(r, with("client_fresh_us", 10))), "module") << "two servers, or one";
  r.module = false;
  EXPECT_EQ(picked_of(plan_fleet(r, with("module_fresh_us", 0.5))), "client");
  r.module = true;
  r.judge = judge_kind::server;
  EXPECT_EQ(picked_of(plan_fleet(r, round_constants)), "module");
  r.judge = judge_kind::client;
  r.client_bytes = 1;
  EXPECT_EQ(picked_of(plan_fleet(r, round_constants)), "none");
}

TEST(Fleet, HasEightClientsOrOneForTwoMillionEvents) {
  const auto clients = [](std::uint64_t events) {
    return plan_fleet({.keys = 1000, .per_second = events}, usual_constants()).clients;
  };
  EXPECT_EQ(clients(1000), 8);
  EXPECT_EQ(clients(100'000'000), 50);
}

TEST(Fleet, HasFiniteNumbersWhereAConstantIsTinyOrHuge) {
  for (const auto& [name, usual] : usual_constants())
    for (const double value : {1e-9, 1e9}) {
      fleet_constants c = usual_constants();
      c[name] = value;
      const fleet_request r{.keys = 1'000'000, .per_second = 1'000'000, .fresh_share = 0};
      for (const fleet_design& d : plan_fleet(r, c).designs)
        for (const fleet_load& load : {d.server, d.client})
          for (const double number : {load.bytes, load.cores, load.in_bytes, load.out_bytes, d.servers})
            EXPECT_TRUE(std::isfinite(number)) << d.name << " where " << name << " is " << value;
    }
}

TEST(Fleet, RefusesImpossibleFilters) {
  EXPECT_THROW((void)plan_fleet({.keys = 0, .per_second = 1}, round_constants), parameter_error);
  EXPECT_THROW((void)plan_fleet({.keys = 1, .error_rate = 0.9, .per_second = 1}, round_constants),
               parameter_error);
}

TEST(FleetConstants, AreTheUsualOnesExceptThoseGiven) {
  fleet_constants wanted = usual_constants();
  wanted["module_fresh_us"] = 1.5;
  EXPECT_EQ(read_constants(R"({"keys": 5, "constants": {"module_fresh_us": 1.5}})"), wanted);
}

TEST(FleetConstants, AreRefusedWithTheReason) {
  const auto refusal = [](std::string_view json) {
    try {
      (void)read_constants(json);
    } catch (const parameter_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const char* text : {"{", "[]", R"({"constants": 1})"})
    EXPECT_THAT(refusal(text), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal(R"({"constants": {"speed": 1}})"), HasSubstr("none called speed"));
  EXPECT_THAT(refusal(R"({"constants": {"most_share": "1"}})"), HasSubstr("most_share is no number"));
  for (const char* value : {"0", "-1", "1e300"})
    EXPECT_THAT(refusal(R"({"constants": {"batch_keys": )" + std::string(value) + "}}"),
                HasSubstr("batch_keys must be above 0 and at most 1e9"));
}

}  // namespace
}  // namespace everseen
