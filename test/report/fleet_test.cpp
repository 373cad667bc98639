#include "everseen/report/fleet.hpp"

#include <array>
#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/admin/planning.hpp"
#include "everseen/report/fleet_designs.hpp"

namespace everseen {
namespace {

const fleet_design& design_of(const fleet_plan& plan, std::string_view name) {
  for (const fleet_design& d : plan.designs)
    if (d.name == name) return d;
  throw std::logic_error("no such design");
}

std::string_view picked_of(const fleet_plan& plan) {
  return plan.picked ? plan.designs[*plan.picked].name : "none";
}

double created_bytes(const spec& s) {
  return static_cast<double>(growth::plan_layer(s, 0).shape.bytes) * s.partitions;
}

/// Round numbers, so that the results can be computed by hand.
fleet_constants round_constants() {
  fleet_constants c;
  c.embedded_fresh_us = 0.5;
  c.embedded_repeat_us = 0.25;
  c.client_fresh_us = 2;
  c.client_repeat_us = 0.01;
  c.client_another_us = 1;
  c.client_own_fresh_us = 0.2;
  c.client_own_repeat_us = 0.04;
  c.client_own_follow_us = 0.06;
  c.client_in_bytes = 20;
  c.client_again_in_bytes = 5;
  c.client_another_out_bytes = 30;
  c.module_fresh_us = 4;
  c.module_repeat_us = 3;
  c.module_unit_us = 0.5;
  c.module_own_us = 0.3;
  c.module_in_bytes = 70;
  c.module_out_bytes = 2;
  for (const auto call : {&fleet_constants::client_call_us, &fleet_constants::client_call_own_us,
                          &fleet_constants::client_call_bytes, &fleet_constants::module_call_us,
                          &fleet_constants::module_call_own_us, &fleet_constants::module_call_bytes})
    c.*call = 0;
  c.round_trip_us = 500;
  c.batch_keys = 1000;
  c.network_gbit = 8;
  c.most_share = 0.5;
  c.client_events = 1e9;
  c.copied_share = 0.5;
  return c;
}

/// Of 100,000 events a second 50,000 are fresh, from three clients.
fleet_request half_fresh() {
  return {.keys = 1'000'000, .per_second = 100'000, .error_rate = 1e-6, .fresh_share = 0.5, .clients = 3};
}

TEST(Fleet, OfJudgingClientsHasTheLoadComputedByHand) {
  const fleet_design d = design_of(plan_fleet(half_fresh(), round_constants()), "client");
  EXPECT_TRUE(d.is_possible()) << d.why_not;
  EXPECT_EQ(d.servers, 1);
  EXPECT_DOUBLE_EQ(d.server.cores, 0.2005);  // 50,000 x (2 + 2 x 1) us + 50,000 x 0.01 us
  EXPECT_DOUBLE_EQ(d.server.in_bytes,
                   1'250'000);                      // 50,000 x (20 + 5): resent, but not once for each client
  EXPECT_DOUBLE_EQ(d.server.out_bytes, 3'000'000);  // 50,000 x 2 x 30
  EXPECT_DOUBLE_EQ(d.client.cores, 0.006);  // (50,000 x 0.2 + 50,000 x 0.04 + 50,000 x 2 x 0.06) us / 3
  EXPECT_DOUBLE_EQ(d.client.in_bytes, 1'000'000);  // the server's output, shared by three
  EXPECT_DOUBLE_EQ(d.client.out_bytes, 1'250'000 / 3.0);
  EXPECT_DOUBLE_EQ(d.journal_share, 0.05);  // 100 batches a second, each for 500 us
}

TEST(Fleet, OfJudgingClientsKeepsTheBitsTwicePlusTheCopyOfASnapshot) {
  const fleet_design d = design_of(plan_fleet(half_fresh(), round_constants()), "client");
  const double bits = created_bytes(make_spec({.capacity = 1'000'000, .error_rate = 1e-6}));
  EXPECT_DOUBLE_EQ(d.client.bytes, bits);
  EXPECT_DOUBLE_EQ(d.server.bytes, 2.5 * bits) << "bits, a journal of the same size, half of the bits copied";
}

TEST(Fleet, JudgedByTheModuleHasTheLoadComputedByHand) {
  const fleet_design d = design_of(plan_fleet(half_fresh(), round_constants()), "module");
  EXPECT_EQ(d.servers, 1);
  EXPECT_DOUBLE_EQ(d.server.cores, 0.35);          // 50,000 x 4 us + 50,000 x 3 us
  EXPECT_DOUBLE_EQ(d.server.in_bytes, 7'000'000);  // 100,000 x 70
  EXPECT_DOUBLE_EQ(d.server.out_bytes, 200'000);   // 100,000 x 2
  EXPECT_DOUBLE_EQ(d.client.cores, 0.01);          // 100,000 x 0.3 us / 3
  EXPECT_EQ(d.client.bytes, 0);
  const double bits = created_bytes(redis::plan_for_redis(redis::parse_redis_url("redis://h"),
                                                          {.capacity = 1'000'000, .error_rate = 1e-6}));
  EXPECT_DOUBLE_EQ(d.server.bytes, 1.5 * bits);
}

TEST(Fleet, JudgedByTheModulePaysForEachLine) {
  fleet_request r = half_fresh();
  r.error_rate = 1e-2;  // one line a key, and two at 1e-6
  EXPECT_DOUBLE_EQ(design_of(plan_fleet(r, round_constants()), "module").server.cores, 0.3);
}

TEST(Fleet, PaysForEachCallOfAPartition) {
  fleet_constants with_calls = round_constants();
  with_calls.client_call_us = with_calls.module_call_us = 500;
  with_calls.client_call_own_us = with_calls.module_call_own_us = 300;
  with_calls.client_call_bytes = with_calls.module_call_bytes = 1000;
  const fleet_plan free = plan_fleet(half_fresh(), round_constants()),
                   plan = plan_fleet(half_fresh(), with_calls);
  const auto more = [&](std::string_view name) {
    const fleet_design& a = design_of(free, name);
    const fleet_design& b = design_of(plan, name);
    return std::array{b.server.cores - a.server.cores, b.client.cores - a.client.cores,
                      b.server.in_bytes - a.server.in_bytes};
  };
  // 100 batches a second. One partition; each record is resent.
  ASSERT_EQ(design_of(plan, "client").partitions, 1);
  EXPECT_NEAR(more("client")[0], 0.1, 1e-9);
  EXPECT_NEAR(more("client")[1], 0.02, 1e-9) << "shared by three";
  EXPECT_NEAR(more("client")[2], 200'000, 1e-3);
  ASSERT_EQ(design_of(plan, "module").partitions, 1);
  EXPECT_NEAR(more("module")[0], 0.05, 1e-9);
  EXPECT_NEAR(more("module")[1], 0.01, 1e-9);
  EXPECT_NEAR(more("module")[2], 100'000, 1e-3);
}

TEST(Fleet, PaysNearlyOneCallAKeyWherePartitionsOutnumberTheKeysOfABatch) {
  fleet_constants c = round_constants();
  c.module_fresh_us = c.module_repeat_us = 0;
  c.module_call_us = 1;
  c.batch_keys = 10;
  fleet_request r = half_fresh();
  r.keys = 16'000'000'000;
  r.server_bytes = std::uint64_t{1} << 50;
  const fleet_design d = design_of(plan_fleet(r, c), "module");
  EXPECT_EQ(d.partitions, 4096);
  EXPECT_NEAR(d.server.cores, 0.1, 0.0005) << "100,000 keys, 10 a batch, of which 0.011 meet in a partition";
}

TEST(Fleet, UsesTheFiltersThatTheConstantsWereMeasuredWith) {
  const redis::redis_url url = redis::parse_redis_url("redis://h");
  const spec_request usual{.capacity = 1'000'000, .error_rate = 1e-6};
  EXPECT_EQ(lines_per_key(redis::plan_for_redis(url, usual).layout), 2);
}

TEST(Fleet, OfOneProcessHasNoServer) {
  fleet_request r = half_fresh();
  r.clients = 1;
  const fleet_plan plan = plan_fleet(r, round_constants());
  EXPECT_EQ(picked_of(plan), "embedded");
  EXPECT_DOUBLE_EQ(design_of(plan, "embedded").client.cores, 0.0375);  // 50,000 x 0.5 us + 50,000 x 0.25 us
  r.clients = 2;
  EXPECT_FALSE(design_of(plan_fleet(r, round_constants()), "embedded").is_possible());
}

TEST(Fleet, HasAsManyServersAsTheirCpuRequires) {
  fleet_request r = half_fresh();
  r.per_second = 10'000'000;  // 35 cores, of which half is planned for
  const fleet_design d = design_of(plan_fleet(r, round_constants()), "module");
  EXPECT_EQ(d.decided_by, "CPU");
  EXPECT_GE(d.servers, 70);
  EXPECT_LE(d.servers, 75) << "partitions cannot be distributed evenly, but to a sixteenth";
  EXPECT_LE(d.server.cores, 0.5);
}

TEST(Fleet, HasAsManyServersAsTheirMemoryRequires) {
  fleet_request r = half_fresh();
  r.keys = 1'000'000'000;
  r.server_bytes = std::uint64_t{1} << 30;
  const fleet_design d = design_of(plan_fleet(r, round_constants()), "module");
  EXPECT_EQ(d.decided_by, "memory");
  const double all = 1.5 * static_cast<double>(d.filter_bytes) / 0x1p30;
  EXPECT_GE(static_cast<double>(d.servers), all);
  EXPECT_LE(static_cast<double>(d.servers), 1.07 * all + 1);
  EXPECT_LE(d.server.bytes, 0x1p30);
}

TEST(Fleet, HasAsManyServersAsTheirNetworkRequires) {
  fleet_constants c = round_constants();
  c.network_gbit = 0.008;  // a megabyte a second, of which half is planned for; 7 are needed
  const fleet_design d = design_of(plan_fleet(half_fresh(), c), "module");
  EXPECT_EQ(d.decided_by, "network");
  EXPECT_GE(d.servers, 14);
  EXPECT_LE(d.servers, 16);
}

TEST(Fleet, OfJudgingClientsIsLimitedByTheMemoryOfAClient) {
  fleet_request r = half_fresh();
  r.client_bytes = std::uint64_t{1} << 20;
  r.module = true;
  const fleet_plan plan = plan_fleet(r, round_constants());
  EXPECT_NE(design_of(plan, "client").why_not.find("each client would keep all"), std::string::npos);
  EXPECT_EQ(picked_of(plan), "module");
}

TEST(Fleet, OfJudgingClientsIsLimitedByTheOrderOfAPartition) {
  fleet_constants c = round_constants();
  c.round_trip_us = 1e6;  // 100 batches a second; 65,536 partitions still get 0.76 of 50,000 fresh keys each
  const fleet_design d = design_of(plan_fleet(half_fresh(), c), "client");
  EXPECT_DOUBLE_EQ(d.journal_share, 100);
  EXPECT_NE(d.why_not.find("100 records a second"), std::string::npos) << d.why_not;
  EXPECT_EQ(d.servers, 1) << "the first that otherwise suffices";
}

TEST(Fleet, OfJudgingClientsIsLimitedByTheNetworkOfAClient) {
  fleet_constants c = round_constants();
  c.network_gbit = 0.008;
  const fleet_design d = design_of(plan_fleet(half_fresh(), c), "client");
  EXPECT_NE(d.why_not.find("its network"), std::string::npos) << d.why_not;
}

TEST(Fleet, UsesMorePartitionsAndServersWhereTheOrderOfAPartitionIsTheLimit) {
  fleet_constants c;
  c.batch_keys = 1;
  c.client_fresh_us = 0.13;  // of five servers the busiest, with 26 partitions, would be slightly overloaded
  fleet_request r{.keys = 1'000'000'000, .per_second = 200'000, .judge = judge_kind::client};
  const fleet_plan plan = plan_fleet(r, c);
  const fleet_design& d = design_of(plan, "client");
  EXPECT_TRUE(d.is_possible()) << d.why_not;
  EXPECT_EQ(d.partitions, 128) << "1,562 records a second each; a round trip allows 2,400";
  EXPECT_EQ(d.servers, 6);
  EXPECT_EQ(d.decided_by, "the number of partitions") << "five have enough memory, CPU and network";
}

TEST(Fleet, UsesFewerPartitionsWhereTheCallsOfClientsAreTheLimit) {
  fleet_constants c;
  c.client_events = 1e7;
  const fleet_request r{.keys = 1'000'000'000'000, .per_second = 10'000'000, .clients = 2, .module = true};
  const fleet_plan plan = plan_fleet(r, c);
  const fleet_design& d = design_of(plan, "module");
  EXPECT_TRUE(d.is_possible()) << d.why_not;
  EXPECT_TRUE(d.partitions_must_be_given);
  EXPECT_LT(d.partitions, 65'536);
  EXPECT_LE(d.client.cores, c.client_cores);
  EXPECT_NE(plan.command.find("--partitions"), std::string::npos) << plan.command;
}

TEST(Fleet, IsLimitedByTheEventsThatClientsRead) {
  fleet_request r{.keys = 1'000'000, .per_second = 2'000'000, .clients = 1};
  EXPECT_EQ(picked_of(plan_fleet(r)), "embedded");
  r.per_second = 2'000'001;
  const fleet_plan plan = plan_fleet(r);
  EXPECT_EQ(picked_of(plan), "none");
  for (const fleet_design& d : plan.designs)
    EXPECT_NE(d.why_not.find("reads at most 2,000,000"), std::string::npos) << d.name << ": " << d.why_not;
  r.clients = 2;
  EXPECT_EQ(picked_of(plan_fleet(r)), "client");
  r.clients.reset();
  EXPECT_EQ(picked_of(plan_fleet(r)), "client") << "eight by default";
}

TEST(Fleet, HasFiniteNumbersAtTheBoundsOfEachConstant) {
  for (const fleet_constant& bounded : all_fleet_constants())
    for (const double value : {bounded.least, bounded.most}) {
      fleet_constants c;
      c.*bounded.value = value;
      for (const fleet_design& d :
           designs_of({.keys = 1'000'000, .per_second = 1'000'000, .fresh_share = 0}, c))
        for (const double number :
             {d.server.bytes, d.server.cores, d.server.in_bytes, d.server.out_bytes, d.client.bytes,
              d.client.cores, d.client.in_bytes, d.client.out_bytes, d.journal_share})
          EXPECT_TRUE(std::isfinite(number)) << d.name << " where " << bounded.name << " is " << value;
    }
}

TEST(Fleet, PrefersFewestServersThenTheLeastCpu) {
  fleet_request r = half_fresh();
  r.module = true;
  fleet_constants c = round_constants();
  EXPECT_EQ(picked_of(plan_fleet(r, c)), "client") << "one server each, with less CPU";
  c.module_fresh_us = c.module_repeat_us = 0.5;
  EXPECT_EQ(picked_of(plan_fleet(r, c)), "module");
  r.judge = judge_kind::client;
  EXPECT_EQ(picked_of(plan_fleet(r, c)), "client");
}

TEST(Fleet, LetsServersJudgeOnlyWhereTheyMayLoadTheModule) {
  fleet_request r = half_fresh();
  r.judge = judge_kind::server;
  EXPECT_EQ(picked_of(plan_fleet(r, round_constants())), "none");
  r.module = true;
  const fleet_plan plan = plan_fleet(r, round_constants());
  EXPECT_EQ(picked_of(plan), "module");
  EXPECT_NE(plan.command.find(" --judge server"), std::string::npos) << plan.command;
}

TEST(Fleet, NeverPicksAnImpossiblePlan) {
  fleet_request r = half_fresh();
  r.judge = judge_kind::client;
  r.client_bytes = 1 << 20;
  const fleet_plan plan = plan_fleet(r, round_constants());
  EXPECT_EQ(plan.picked, std::nullopt);
  EXPECT_TRUE(plan.command.empty());
}

TEST(Fleet, AddsPartitionsWhereARedisStringWouldBeTooLong) {
  fleet_request r = half_fresh();
  r.keys = 20'000'000'000;  // 80 GB: 64 partitions would exceed 512 MiB
  r.server_bytes = r.client_bytes = std::uint64_t{1} << 40;
  r.judge = judge_kind::client;
  const fleet_plan plan = plan_fleet(r, round_constants());
  const fleet_design& d = design_of(plan, "client");
  EXPECT_EQ(d.servers, 1);
  EXPECT_TRUE(d.partitions_must_be_given);
  EXPECT_EQ(d.partitions, 416) << "83.7 GB, 192 MiB each at most: a layer of twice the keys fits, too";
  EXPECT_LE(d.filter_bytes / d.partitions, 193 << 20) << "and the margin for the spread of keys";
  EXPECT_NE(plan.command.find(" --judge client --partitions 416"), std::string::npos) << plan.command;
}

TEST(Fleet, IsLimitedByTheStringsOfRedis) {
  fleet_request r = half_fresh();
  r.keys = 100'000'000'000'000;  // 420 TB in 65,536 partitions are 6 GB each
  const fleet_plan plan = plan_fleet(r, round_constants());
  EXPECT_NE(design_of(plan, "client").why_not.find("512 MiB"), std::string::npos);
  EXPECT_NE(design_of(plan, "module").why_not.find("more than 4,096 servers"), std::string::npos);
  EXPECT_EQ(picked_of(plan), "none");
}

TEST(Fleet, IsLimitedToFourThousandServers) {
  fleet_request r = half_fresh();
  r.per_second = 1'000'000'000;  // 3,500 cores, of which half is planned for
  const fleet_design d = design_of(plan_fleet(r, round_constants()), "module");
  EXPECT_NE(d.why_not.find("more than 4,096 servers"), std::string::npos) << d.why_not;
  EXPECT_FALSE(d.is_sized) << "a number of servers would not be an answer";
}

TEST(Fleet, HasEightClientsOrOneForTwoMillionEvents) {
  EXPECT_EQ(plan_fleet({.keys = 1000, .per_second = 1000}).clients, 8);
  EXPECT_EQ(plan_fleet({.keys = 1000, .per_second = 100'000'000}).clients, 50);
  EXPECT_EQ(plan_fleet({.keys = 1000, .per_second = 100'000'000, .clients = 3}).clients, 3);
}

TEST(Fleet, RefusesImpossibleFilters) {
  EXPECT_THROW(static_cast<void>(plan_fleet({.keys = 0, .per_second = 1})), parameter_error);
  EXPECT_THROW(static_cast<void>(plan_fleet({.keys = 1, .per_second = 1, .error_rate = 0.9})),
               parameter_error);
}

}  // namespace
}  // namespace everseen
