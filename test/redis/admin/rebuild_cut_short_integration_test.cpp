// Rebuilds that are abandoned, crash, or meet concurrent changes of the filter.

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/filter/followed_filter.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/keyspace/name_index.hpp"

#include "test/redis/admin/rebuilding.hpp"
#include "test/support/child_process.hpp"
#include "test/support/cutting_proxy.hpp"
#include "test/support/interrupted_operation.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::hold_everywhere;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Ne;
using ::testing::ThrowsMessage;

class RebuildCutShort : public Rebuilding {
 protected:
  /// The progress of a rebuild that crashed at that step.
  enum class step : std::uint8_t { prepared, decided, in_place, half_sealed, sealed, released };
  filter_identity rebuild_crashed_at(step last) {
    server_connections connections(parse_redis_url(server_.url()));
    const filter_directory all("everseen", 1);
    const filter_identity old = all.open(connections, "clicks", true);
    const filter_identity next = all.draft(sized(5'000, 3));
    all.prepare(connections, next, {},
                {.spec = next.spec, .after = old.id, .origin = origin_of(connections, old)});
    if (last >= step::decided) {
      EXPECT_EQ(decide_succession(connections, old, next.id), succession::decided);
    }
    if (last >= step::in_place) {
      EXPECT_EQ(put_in_place(connections, old, next.id), placing::done);
    }
    if (last >= step::half_sealed) seal_partition(connections, old, 1, next.id);
    if (last >= step::sealed) {
      EXPECT_TRUE(seal(connections, old, next.id));
    }
    if (last >= step::released) {
      EXPECT_TRUE(forget_before(connections, next, old.id, "word"));
      name_index("everseen").release(connections, old.id);
    }
    return next;
  }
  static void seal_partition(server_connections& connections, const filter_identity& f,
                             std::uint32_t partition, const image::filter_id& successor) {
    const std::string key = f.keys.state(partition);
    if (f.spec.judge == judge_kind::server)
      (void)ask_about(connections, {key, partition}, {"EVERSEEN.SEAL", key, bytes_of(successor)});
    else
      (void)run_script(connections,
                       {&journal_scripts::seal(), {key, partition}, {key}, {bytes_of(successor)}});
  }
  /// The one that it asks first.
  image::filter_id asked_by(const filter_identity& f) const {
    server_connections connections(parse_redis_url(server_.url()));
    return read_filter_header(connections, f)->after.value();
  }
  static image::filter_id origin_of(server_connections& connections, const filter_identity& f) {
    return read_filter_header(connections, f)->origin;
  }
};

// Promise: a rebuild that is interrupted at any step forgets nothing, and calls nothing fresh twice (redis,
// Rebuild).
TEST_P(RebuildCutShort, AbandonedForgetsNothingAndTheNextOneFinishesIt) {
  const auto meanwhile = source_.take(300);
  {
    const auto rebuild = begin();
    EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "300 fresh");
  }
  for (const auto& each : {client(), writer_, reader_}) {
    EXPECT_EQ(outcome(check_keys(*each, meanwhile)), "300 seen");
    EXPECT_EQ(outcome(check_keys(*each, old_)), "500 seen");
  }
  EXPECT_EQ(outcome(add_keys(*writer_, source_.take(100))), "100 fresh");
  {
    const auto again = begin(1'000, 3);
    EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen") << "through two rebuilds";
    EXPECT_EQ(outcome(add_keys(*again->target(), meanwhile)), "300 fresh");
    again->commit();
  }
  for (const auto& each : {client(), writer_, reader_}) {
    EXPECT_EQ(outcome(check_keys(*each, meanwhile)), "300 seen");
    EXPECT_EQ(outcome(check_keys(*each, old_)), "500 fresh");
  }
  expect_no_leftovers();
}

// Promise: a rebuild that is interrupted at any step forgets nothing, and calls nothing fresh twice (redis,
// Rebuild).
TEST_P(RebuildCutShort, CrashedAtAnyStepForgetsNothingAndReportsNothingFreshTwice) {
  for (const step last : {step::prepared, step::decided, step::in_place, step::half_sealed, step::sealed}) {
    SCOPED_TRACE(static_cast<int>(last));
    (void)rebuild_crashed_at(last);
    const auto keys = source_.take(400);
    const auto opened = client();
    EXPECT_EQ(outcome(add_keys(*opened, std::span(keys).first(200))), "200 fresh");
    EXPECT_EQ(outcome(add_keys(*writer_, keys)), "200 fresh, 200 seen, 0 late, 0 unknown");
    EXPECT_EQ(outcome(add_keys(*opened, keys)), "400 seen");
    EXPECT_EQ(outcome(check_keys(*reader_, keys)), "400 seen");
    EXPECT_EQ(outcome(check_keys(*client("clicks", access::read), old_)), "500 seen");
  }
}

TEST_P(RebuildCutShort, CrashedWhileSealingIsContinuedByClientsThatHaveTheFilterOpen) {
  (void)rebuild_crashed_at(step::half_sealed);
  const auto half = source_.take(400);
  EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen");
  EXPECT_EQ(outcome(add_keys(*writer_, half)), "400 fresh") << "one partition of the old, one of the new";
  EXPECT_EQ(outcome(add_keys(*writer_, half)), "400 seen");
  for (const auto& each : {reader_, client(), client("clicks", access::read)})
    EXPECT_EQ(outcome(check_keys(*each, half)), "400 seen");
}

TEST_P(RebuildCutShort, LookUpThatFailsOnItsWayToTheSuccessorReportsNoAddedKeyAsFresh) {
  const auto keys = source_.take(100);
  unsigned cut = 0;
  for (std::size_t bytes = 0;; bytes += 23) {
    test::cutting_proxy proxy(server_.port());
    const auto reader = store_at(proxy.url("/?retry_for=0s"))->open("clicks", access::read);
    EXPECT_EQ(outcome(check_keys(*reader, keys)), "100 fresh");
    (void)rebuild_crashed_at(step::sealed);
    EXPECT_EQ(outcome(add_keys(*client(), keys)), "100 fresh");
    proxy.cut_for_long_after(test::cutting_proxy::direction::to_client, bytes);
    EXPECT_THAT(check_keys(*reader, keys).verdicts, Each(Ne(verdict::fresh))) << bytes;
    if (!proxy.has_cut()) break;
    ++cut;
    store_->drop("clicks");
    (void)store_->create("clicks", sized(300, 2));
  }
  EXPECT_GT(cut, 10u);
}

TEST_P(RebuildCutShort, KilledLeavesAWorkingFilterAndIsRemovedByTheNext) {
  {
    test::child_process dying([&](const auto& tell) {
      const auto rebuild = store()->begin_rebuild("clicks", sized(5'000, 3), {});
      (void)add_keys(*rebuild->target(), old_);
      tell(1);
      std::this_thread::sleep_for(1h);
    });
    ASSERT_EQ(dying.next(), 1);
  }
  const auto meanwhile = source_.take(300);
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "300 fresh");
  const auto rebuild = begin();
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "300 seen");
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*writer_, meanwhile)), "300 seen");
  EXPECT_EQ(outcome(check_keys(*writer_, old_)), "500 fresh");
  expect_no_leftovers();
}

TEST_P(RebuildCutShort, CrashedDuringTheRemovalOfTheOldFilterIsNotDamageForItsClients) {
  const filter_identity next = rebuild_crashed_at(step::sealed);
  const auto asks_both = client();
  EXPECT_EQ(outcome(add_keys(*asks_both, old_)), "500 seen");
  server_connections connections(parse_redis_url(server_.url()));
  const image::filter_id before = asked_by(next);
  ASSERT_TRUE(forget_before(connections, next, before, "word"));
  for (const std::string& key : keys_like(server_, "everseen:{" + filter_keys::to_text(before) + "/*}:*"))
    server_.run({"DEL", key});
  const auto keys = source_.take(100);
  EXPECT_EQ(outcome(add_keys(*asks_both, keys)), "100 fresh");
  EXPECT_EQ(outcome(check_keys(*reader_, keys)), "100 seen");
  EXPECT_EQ(outcome(add_keys(*writer_, keys)), "100 seen");
  begin()->commit();
  expect_no_leftovers();
}

// The state during a removal, or after one that crashed.
TEST_P(RebuildCutShort, OrADropDuringARemovalOfKeysIsNotDamageEither) {
  const filter_identity dropped = identity_at(server_, "clicks", {});
  const std::string& id = dropped.keys.id();
  begin_drop(server_, "clicks");
  const std::string bits = GetParam() == judges::clients ? "/*}:*" : "/*}";
  for (const std::string& key : keys_like(server_, "everseen:{" + id + bits)) server_.run({"DEL", key});
  const auto told = failure_of_check(*reader_, old_);
  // A client that judges has the bits, and learns of the removal once the filter is sealed.
  ASSERT_EQ(told.has_value(), GetParam() != judges::clients);
  if (!told) return;
  EXPECT_EQ(told->why, batch_failure::cause::storage);
  EXPECT_THAT(told->message, HasSubstr("dropped, replaced or deleted"));
}

TEST_P(RebuildCutShort, CrashedBeforeItIsVisibleLeavesKeysThatExpire) {
  const filter_identity next = rebuild_crashed_at(step::prepared);
  for (const std::string& key : keys_of_filters())
    if (key.find(next.keys.id()) != std::string::npos) {
      EXPECT_GT(std::stol(server_.run({"PTTL", key})), 0) << key << " would never be removed";
    }
}

TEST_P(RebuildCutShort, CrashedLeavesNothingBehindOnceTheFilterIsDropped) {
  for (const step last : {step::decided, step::in_place, step::half_sealed, step::sealed}) {
    SCOPED_TRACE(static_cast<int>(last));
    (void)rebuild_crashed_at(last);
    store_->drop("clicks");
    EXPECT_THAT(ids(), IsEmpty());
    EXPECT_THAT(index_fields(), IsEmpty());
    EXPECT_TRUE(failure_of_add(*writer_, source_.take(10)));
    (void)store_->create("clicks", sized(300, 2));
  }
}

TEST_P(RebuildCutShort, WithAnExpiredSuccessorIsForgotten) {
  const filter_identity next = rebuild_crashed_at(step::decided);
  server_.run({"DEL", next.keys.header()});
  EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen");
  EXPECT_EQ(outcome(add_keys(*writer_, source_.take(300))), "300 fresh");
  EXPECT_EQ(outcome(add_keys(*client(), old_)), "500 seen");
  const auto rebuild = begin();
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*writer_, old_)), "500 fresh");
}

// As by a replica that took its server's place and lacked it.
TEST_P(RebuildCutShort, WithASuccessorThatLostAPartIsForgotten) {
  const filter_identity next = rebuild_crashed_at(step::decided);
  server_.run({"DEL", next.keys.state(1)});
  const auto expect_time_limits = [&] {
    for (const std::string& key : {next.keys.header(), next.keys.state(0), next.keys.state(2)})
      EXPECT_GT(std::stol(server_.run({"PTTL", key})), 0) << key;
  };
  EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen");
  EXPECT_EQ(outcome(add_keys(*client(), source_.take(300))), "300 fresh");
  expect_time_limits();
  EXPECT_EQ(outcome(add_keys(*writer_, old_)), "500 seen");
  const auto rebuild = begin();
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*writer_, old_)), "500 fresh");
}

// Promise: of two rebuilds at the same time the later one wins (redis, Rebuild).
TEST_P(RebuildCutShort, OfTwoConcurrentRebuildsTheSecondWins) {
  const auto first = begin();
  const auto second = begin(1'000, 3);
  const auto meanwhile = source_.take(100);
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "100 fresh");
  EXPECT_THAT(message_of<error>([&] { first->commit(); }), HasSubstr("clicks"));
  second->commit();
  EXPECT_EQ(outcome(check_keys(*writer_, meanwhile)), "100 seen");
  EXPECT_EQ(client("clicks", access::read)->get_spec(), sized(1'000, 3));
  expect_no_leftovers();
}

TEST_P(RebuildCutShort, IsStoppedByAResetAndByADrop) {
  for (const bool drop : {false, true}) {
    const auto rebuild = begin();
    ASSERT_TRUE(add_keys(*rebuild->target(), old_).result);
    drop ? store_->drop("clicks") : store_->reset("clicks");
    EXPECT_THROW(rebuild->commit(), error);
    if (!drop) {
      EXPECT_EQ(outcome(check_keys(*writer_, old_)), "500 fresh");
      expect_no_leftovers();
    }
  }
  EXPECT_FALSE(store_->exists("clicks"));
  EXPECT_THAT(ids(), IsEmpty());
}

// Wherever a reset is when another rebuild is decided: what the filter asked must not be asked by the next
// one.
TEST_P(RebuildCutShort, ResetBesideTheDecisionForAnotherForgetsWhatTheFilterAsks) {
  hold_everywhere(server_.port(), {.open = through_proxy,
                                   .prepare =
                                       [&] {
                                         ASSERT_TRUE(add_keys(*client(), old_).result);
                                         (void)rebuild_crashed_at(step::sealed);
                                       },
                                   .run = [](everseen::store& in) { in.reset("clicks"); },
                                   .meanwhile = [&] { (void)rebuild_crashed_at(step::decided); },
                                   .check =
                                       [&](bool is_reset) {
                                         if (!is_reset) store_->reset("clicks");
                                         EXPECT_EQ(outcome(check_keys(*client(), old_)), "500 fresh");
                                       }});
}

// The rebuild is committed, and the old filter is still there.
TEST_P(RebuildCutShort, ResetBesideTheEndForgetsWhatWritersStillAsk) {
  server_connections connections(parse_redis_url(server_.url()));
  const image::filter_id old = filter_directory("everseen", 1).open(connections, "clicks", false).id;
  const filter_identity next = rebuild_crashed_at(step::sealed);
  EXPECT_EQ(outcome(add_keys(*writer_, old_)), "500 seen");
  ASSERT_TRUE(forget_before(connections, next, old, "word"));
  store_->reset("clicks");
  if (next.spec.judge == judge_kind::client) std::this_thread::sleep_for(1s);  // a `seen` may be as old
  EXPECT_EQ(outcome(add_keys(*writer_, old_)), "500 fresh");
}

// A server may come back without one of the headers. What remains of the filters is not judged alone.
TEST_P(RebuildCutShort, ThatLosesTheOldHeaderIsDamage) {
  const filter_identity next = rebuild_crashed_at(step::sealed);
  EXPECT_EQ(outcome(add_keys(*writer_, old_)), "500 seen");
  const std::string header = filter_keys("everseen", asked_by(next)).header();
  server_.run({"DEL", header});
  EXPECT_THAT([&] { (void)client(); }, ThrowsMessage<format_error>(HasSubstr(header + " is missing")));
  EXPECT_THAT(check_keys(*reader_, old_).verdicts, Each(Ne(verdict::fresh)));
  EXPECT_THAT(add_keys(*writer_, old_).verdicts, Each(Ne(verdict::fresh)));
  EXPECT_THAT([&] { (void)begin(); }, ThrowsMessage<format_error>(HasSubstr(header + " is missing")));
  store_->drop("clicks");
  EXPECT_FALSE(store_->exists("clicks"));
}

TEST_P(RebuildCutShort, ThatLosesTheNewHeaderKeepsTheOldFilter) {
  const filter_identity next = rebuild_crashed_at(step::sealed);
  const std::string old = filter_keys::to_text(asked_by(next));
  EXPECT_EQ(outcome(add_keys(*writer_, source_.take(100))), "100 fresh");
  const auto kept = lasting_keys_like(server_, "everseen:{" + old + "*}*");
  const std::string header = next.keys.header();
  for (const bool is_overwritten : {false, true}) {
    is_overwritten ? server_.run({"SET", header, "x"}) : server_.run({"DEL", header});
    EXPECT_THAT(add_keys(*writer_, old_).verdicts, Each(Ne(verdict::fresh)));
    EXPECT_THAT(check_keys(*reader_, old_).verdicts, Each(Ne(verdict::fresh)));
    (void)store_->create("another", sized(300, 2));
    store_->drop("another");
    EXPECT_EQ(lasting_keys_like(server_, "everseen:{" + old + "*}*"), kept);
  }
  store_->drop("clicks");
  EXPECT_FALSE(store_->exists("clicks"));
  EXPECT_THAT(lasting_keys_like(server_, "everseen:{" + old + "*}*"), IsEmpty());
}

// Wherever the end is interrupted: once one client finds a key absent, none has it.
TEST_P(RebuildCutShort, AtItsEndNoWriterAsksTheOldFilterAnyMore) {
  server_connections connections(parse_redis_url(server_.url()));
  const image::filter_id old = filter_directory("everseen", 1).open(connections, "clicks", false).id;
  const filter_identity next = rebuild_crashed_at(step::sealed);
  EXPECT_EQ(outcome(add_keys(*writer_, source_.take(100))), "100 fresh");
  ASSERT_TRUE(forget_before(connections, next, old, "word"));
  EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 fresh");
  EXPECT_EQ(outcome(add_keys(*writer_, old_)), "500 fresh");
}

// The drop has removed the new filter, and perhaps a part of the old one. A client may have missed the
// rebuild.
TEST_P(RebuildCutShort, ThenDroppedInPartReportsNoAddedKeyAsFresh) {
  const auto keys = source_.take(100);
  test::cutting_proxy proxy(server_.port());
  unsigned cut = 0;
  for (std::size_t bytes = 0;; bytes += 23) {
    proxy.refuse(false);
    const auto cut_off = store_at(proxy.url("/?retry_for=0s"))->open("clicks", access::read);
    const auto reader = client("clicks", access::read);
    const filter_identity next = rebuild_crashed_at(step::sealed);
    EXPECT_EQ(outcome(add_keys(*client(), keys)), "100 fresh");
    const image::filter_id old = asked_by(next);
    begin_drop(server_, "clicks");
    for (const std::string& key : keys_like(server_, "everseen:{" + next.keys.id() + "*}*"))
      server_.run({"DEL", key});
    proxy.cut_for_long_after(test::cutting_proxy::direction::to_client, bytes);
    EXPECT_THAT(check_keys(*cut_off, keys).verdicts, Each(verdict::unknown)) << bytes;
    if (!proxy.has_cut()) {
      server_.run({"DEL", filter_keys("everseen", old).state(1)});
      EXPECT_THAT(check_keys(*reader, keys).verdicts, Each(verdict::unknown));
      break;
    }
    ++cut;
    (void)store_->create("clicks", sized(300, 2));
  }
  EXPECT_GT(cut, 10u);
}

// Wherever a drop is when a rebuild takes the name: what it has acknowledged is gone.
TEST_P(RebuildCutShort, DropBesideARebuildDropsTheSuccessor) {
  for (const step last : {step::in_place, step::released}) {
    SCOPED_TRACE(static_cast<int>(last));
    hold_everywhere(server_.port(), {.open = through_proxy,
                                     .prepare =
                                         [&] {
                                           if (!store_->exists("clicks"))
                                             (void)store_->create("clicks", sized(300, 2));
                                         },
                                     .run = [](everseen::store& in) { in.drop("clicks"); },
                                     .meanwhile =
                                         [&] {
                                           if (store_->exists("clicks")) (void)rebuild_crashed_at(last);
                                         },
                                     .check =
                                         [&](bool is_dropped) {
                                           EXPECT_TRUE(is_dropped);
                                           EXPECT_FALSE(store_->exists("clicks"));
                                         }});
  }
}

TEST_P(RebuildCutShort, ContinuesUnderAnotherName) {
  const auto rebuild = begin();
  const auto meanwhile = source_.take(100);
  store_->rename("clicks", "taps", store::namesake::refuse);
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "100 fresh");
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*client("taps"), meanwhile)), "100 seen");
  EXPECT_EQ(outcome(check_keys(*client("taps"), old_)), "500 fresh");
  expect_no_leftovers();
}

TEST_P(RebuildCutShort, FromACopyThatLostASegmentFailsAndLeavesTheFilterUnchanged) {
  const auto copy = copy_of(*writer_);
  {
    const auto rebuild = store_->begin_rebuild("clicks", writer_->get_spec(), copy.states);
    for (const auto& [id, bits] : copy.segments) rebuild->merge(id, bits);
    const bool by_clients = GetParam() == judges::clients;
    for (const std::string& key : keys_like(server_, by_clients ? "everseen:{*/0}:0.0" : "everseen:{*/0}"))
      if (std::stol(server_.run({"PTTL", key})) > 0) server_.run({"DEL", key});
    EXPECT_THAT(message_of<storage_error>([&] { rebuild->commit(); }), HasSubstr("begin again"));
  }
  for (const auto& each : {client(), writer_, reader_})
    EXPECT_EQ(outcome(check_keys(*each, old_)), "500 seen");
}

TEST_P(RebuildCutShort, OfAFilterThatWasRecreatedMeanwhileIsRefused) {
  const auto copy = copy_of(*writer_);
  const auto rebuild = store_->begin_rebuild("clicks", writer_->get_spec(), copy.states);
  for (const auto& [id, bits] : copy.segments) rebuild->merge(id, bits);
  store_->drop("clicks");
  const auto another = store_->create("clicks", sized(300, 2));
  EXPECT_THAT(message_of<storage_error>([&] { rebuild->commit(); }), HasSubstr("begin again"));
  EXPECT_EQ(outcome(add_keys(*another, old_)), "500 fresh");
}

// A restarted server that lost the last step of a rebuild names a filter that no longer exists.
TEST_P(RebuildCutShort, WithALostLastStepIsFinished) {
  begin()->commit();
  const std::string header = key_like(server_, "everseen:{????????????????????????????????}");
  server_.run({"HSET", header, "after", std::string(16, 'x')});
  EXPECT_EQ(outcome(add_keys(*client(), old_)), "500 fresh");
  EXPECT_EQ(outcome(check_keys(*client("clicks", access::read), old_)), "500 seen");
  EXPECT_EQ(server_.run({"HEXISTS", header, "after"}), "0");
}

INSTANTIATE_TEST_SUITE_P(JudgedBy, RebuildCutShort, testing::Values(judges::clients, judges::servers),
                         name_of_judges);

}  // namespace
}  // namespace everseen::redis
