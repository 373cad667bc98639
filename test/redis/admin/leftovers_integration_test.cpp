// A filter that meets leftovers of others: an interrupted removal, late copies of calls, marks of jobs that
// no longer exist.

#include <functional>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"

#include "test/redis/judges.hpp"
#include "test/redis/stored.hpp"
#include "test/support/claimed_events.hpp"
#include "test/support/interrupted_operation.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::hold_everywhere;
using test::random_digests;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;

class Leftovers : public testing::TestWithParam<judge_kind> {
 protected:
  std::shared_ptr<stored_filter> create(const std::string& name = "a") {
    spec_request request{.capacity = 1000, .error_rate = 1e-9, .partitions = 2};
    request.seed = hash_seed{};
    request.judge = GetParam();
    return store_->create(name, store_->plan(request));
  }

  /// Of two keys, one of each partition or two of one.
  static test::claimed claim(const stored_filter& in, ledger& job) {
    random_digests random(3);
    std::vector<test::event> events = test::new_events(random, 1, 2);
    for (test::event& e : events) e.counters = {"all"};
    return test::claim_events(job, in.get_spec(), {"lane", 0}, events);
  }
  void expect_none_of_a_job_during_a_drop(const std::function<void(stored_filter&, ledger&)>& use);

  test::redis_server server_{test::with_module()};
  std::shared_ptr<redis_store> store_ = store_at(server_.url());
  const std::vector<digest> keys_ = random_digests(1).take(200);
};

// The removing client seals it first, and deletes its header last.
TEST_P(Leftovers, OfAFilterUnderRemovalAcceptNoKeysAndReportIt) {
  const auto filter = create();
  ASSERT_EQ(outcome(add_keys(*filter, keys_)), "200 fresh");
  const filter_identity f = identity_at(server_, "a", filter->get_spec());
  const std::string id = bytes_of(f.id);
  for (std::uint32_t p = 0; p < 2; ++p) {
    const std::string state = f.keys.state(p);
    GetParam() == judge_kind::server ? server_.run({"EVERSEEN.SEAL", state, id})
                                     : server_.run({"HSET", state, "successor", id});
  }
  begin_drop(server_, "a");
  const auto failure = failure_of_add(*filter, random_digests(2).take(50));
  ASSERT_TRUE(failure) << "nothing was added, and nobody got a verdict";
  EXPECT_EQ(failure->why, batch_failure::cause::storage);
  // Not that it is being rebuilt: then the client could wait, or open it again.
  const auto is_gone = AllOf(HasSubstr("is gone: it was dropped"), Not(HasSubstr("rebuilt")));
  EXPECT_THAT(failure->message, is_gone);
  for (const auto& batch : {failure_of_add(*filter, keys_), failure_of_check(*filter, keys_)}) {
    ASSERT_TRUE(batch) << "it was told that the filter is gone";
    EXPECT_THAT(batch->message, AllOf(is_gone, Not(HasSubstr("but a key"))));
  }
  EXPECT_THAT(message_of<storage_error>([&] { (void)filter->state(0); }), HasSubstr("is gone"));
  server_connections connections(parse_redis_url(server_.url()));
  EXPECT_THAT(message_of<storage_error>([&] { empty_partition(connections, f, 0); }), is_gone);
}

TEST_P(Leftovers, OfACreationChangeNothingOnceTheFilterIsInUse) {
  const auto filter = create();
  ASSERT_EQ(outcome(add_keys(*filter, keys_)), "200 fresh");
  server_connections connections(parse_redis_url(server_.url()));
  const filter_identity f = identity_at(server_, "a", filter->get_spec());
  filter_directory("everseen", 1).prepare(connections, f, {}, {.spec = f.spec});
  EXPECT_EQ(outcome(check_keys(*store_->open("a", access::read), keys_)), "200 seen");
  EXPECT_EQ(server_.run({"PTTL", f.keys.header()}), "-1");
  EXPECT_EQ(server_.run({"PTTL", f.keys.state(0)}), "-1");
}

/// A job whose creation was interrupted after its end: it is marked, and on no list.
TEST_P(Leftovers, OfAnUnlistedJobBlockNoResetAndGoWithTheFilter) {
  const auto filter = create();
  ASSERT_EQ(outcome(add_keys(*filter, keys_)), "200 fresh");
  const filter_keys keys = identity_at(server_, "a", filter->get_spec()).keys;
  const job_keys job(keys, std::string(32, 'a'));
  const std::string records = job.lanes(0);
  const auto mark = [&] {
    if (GetParam() == judge_kind::client) server_.run({"HSET", keys.state(0), job.field(), "1"});
    server_.run({"HSET", records, "lane", "x"});
    // Of a value, the mark is in the records, which expire until the job is known to be on the list.
    if (GetParam() == judge_kind::server) server_.run({"PEXPIRE", records, "600000"});
  };
  mark();
  store_->reset("a");
  EXPECT_EQ(outcome(add_keys(*store_->open("a", access::write), keys_)), "200 fresh");
  mark();
  store_->drop("a");
  for (const std::string& key : keys_like(server_, "everseen:*:l*"))
    EXPECT_GT(std::stol(server_.run({"PTTL", key})), 0) << key;
  if (GetParam() == judge_kind::client) {
    EXPECT_THAT(keys_like(server_, "everseen:*:l*"), IsEmpty());
  }
}

// The name of a filter is free as soon as it is dropped, whatever is left of another one.
TEST_P(Leftovers, OnAServerThatIsDownPreventNoOtherDrop) {
  test::redis_server second(test::with_module());
  const std::string both = "redis://" + server_.address() + "," + second.address();
  const auto patient = store_at(both), impatient = store_at(both + "/?timeout=200ms&retry_for=0s");
  EXPECT_THAT(impatient->list(), IsEmpty());
  const std::vector<std::string> names = {"x", "y"};
  for (const std::string& name : names) {
    spec_request request{.capacity = 1000, .error_rate = 1e-9, .partitions = 2};
    request.judge = GetParam();
    (void)patient->create(name, patient->plan(request));
  }
  const bool has_names = second.run({"EXISTS", filter_keys::index("everseen")}) == "1";
  test::redis_server& one = has_names ? server_ : second;
  one.pause();
  for (const std::string& name : names) {
    EXPECT_THAT(message_of<backend_error>([&] { impatient->drop(name); }),
                HasSubstr("'" + name + "' is dropped, but"));
    EXPECT_FALSE(patient->exists(name));
  }
  one.resume();
  EXPECT_THAT(message_of<parameter_error>([&] { patient->drop("x"); }), HasSubstr("no filter named 'x'"));
  EXPECT_THAT(lasting_keys_like(server_, "everseen:{????????????????????????????????*}*"), IsEmpty());
  EXPECT_THAT(lasting_keys_like(second, "everseen:{????????????????????????????????*}*"), IsEmpty());
}

/// Does something with a job while another client drops the filter, at each of its steps.
void Leftovers::expect_none_of_a_job_during_a_drop(const std::function<void(stored_filter&, ledger&)>& use) {
  std::shared_ptr<stored_filter> filter;
  std::unique_ptr<ledger> job;
  hold_everywhere(server_.port(), {.open = through_proxy,
                                   .prepare =
                                       [&] {
                                         filter = create();
                                         job = filter->open_ledger("count", "");
                                         ASSERT_TRUE(claim(*filter, *job).result);
                                         job->settle(std::vector<checkpoint>{{"lane", 1}});
                                       },
                                   .run = [](everseen::store& in) { in.drop("a"); },
                                   .meanwhile =
                                       [&] {
                                         try {
                                           use(*filter, *job);
                                         } catch (const storage_error&) {
                                           // it is gone
                                         }
                                       },
                                   .check =
                                       [&](bool is_dropped) {
                                         EXPECT_TRUE(is_dropped);
                                         EXPECT_THAT(lasting_keys_like(server_, "*"), IsEmpty());
                                       }});
}

TEST_P(Leftovers, OfAJobThatSettlesDuringADropGoWithTheFilter) {
  expect_none_of_a_job_during_a_drop([](stored_filter& /*filter*/, ledger& job) {
    job.settle(std::vector<checkpoint>{{"lane", 2}});
  });
}

TEST_P(Leftovers, OfAJobThatClaimsDuringADropGoWithTheFilter) {
  expect_none_of_a_job_during_a_drop([](stored_filter& filter, ledger& job) { (void)claim(filter, job); });
}

TEST_P(Leftovers, OfAJobThatBeginsDuringADropGoWithTheFilter) {
  expect_none_of_a_job_during_a_drop([](stored_filter& filter, ledger& /*job*/) {
    const auto next = filter.open_ledger("next", "");
    (void)claim(filter, *next);
    next->settle(std::vector<checkpoint>{{"lane", 1}});
  });
}

INSTANTIATE_TEST_SUITE_P(Judges, Leftovers, testing::Values(judge_kind::client, judge_kind::server),
                         [](const auto& each) { return std::string(to_string(each.param)); });

}  // namespace
}  // namespace everseen::redis
