// A filter that its clients judge is made anew while they use it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/error.hpp"
#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/filter/succession.hpp"
#include "everseen/redis/journal/stored_checkpoint.hpp"

#include "test/redis/judged_by_clients.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::random_digests;
using test::redis_server;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

spec spec_of(std::uint64_t capacity, std::uint32_t partitions) {
  return judged_by_clients({.capacity = capacity, .error_rate = 1e-12, .partitions = partitions});
}

/// The filter `clicks`, which holds `old_`; some other clients have it open.
class RebuildJudgedByClients : public JudgedByClients {
 protected:
  RebuildJudgedByClients() {
    EXPECT_TRUE(add_keys(*store_->create("clicks", spec_of(300, 2)), old_).result);
    writer_ = client();
    reader_ = client("clicks", access::read);
    EXPECT_EQ(outcome(check_keys(*writer_, old_)), "500 seen");
    EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen");
  }

  std::unique_ptr<store::rebuild> begin(std::uint64_t capacity = 5'000, std::uint32_t partitions = 2) {
    return store_->begin_rebuild("clicks", spec_of(capacity, partitions), {});
  }
  /// The ids of filters of which there are keys.
  std::set<std::string> ids() {
    std::set<std::string> all;
    for (const std::string& key : keys_like(server_, "everseen:{????????????????????????????????*}*"))
      all.insert(key.substr(10, 32));
    return all;
  }
  std::vector<std::string> index_fields() {
    std::vector<std::string> fields;
    std::istringstream all(server_.run({"HKEYS", "everseen:{names}"}));
    for (std::string field; std::getline(all, field);) fields.push_back(field);
    return fields;
  }
  void expect_nothing_else_is_left() {
    EXPECT_THAT(ids(), SizeIs(1));
    EXPECT_THAT(index_fields(), SizeIs(1));
  }
  /// As far as a rebuild has come that died then.
  enum class step : std::uint8_t { prepared, decided, in_place, sealed };
  filter_identity rebuild_that_dies_at(step last) {
    session with(parse_redis_url(server_.unix_url()));
    const filter_directory all("everseen", 1);
    const filter_identity old = all.open(with, "clicks", true);
    const filter_identity next = all.draft(spec_of(5'000, 3));
    all.prepare(with, next, {}, {.spec = next.spec, .after = old.id, .origin = origin_of(with, old)});
    if (last >= step::decided) {
      EXPECT_EQ(decide_succession(with, old, next.id), succession::decided);
    }
    if (last >= step::in_place) {
      EXPECT_EQ(put_in_place(with, old, next.id), placing::done);
    }
    if (last >= step::sealed) {
      EXPECT_TRUE(seal(with, old, next.id));
    }
    return next;
  }
  static image::filter_id origin_of(session& with, const filter_identity& f) {
    return read_filter_header(with, f)->origin;
  }

  random_digests source_{1};
  std::vector<digest> old_ = source_.take(500);
  std::shared_ptr<stored_filter> writer_, reader_;
};

TEST_F(RebuildJudgedByClients, HoldsWhatItWasGivenAndNothingElse) {
  const auto given = source_.take(300);
  {
    const auto rebuild = begin();
    EXPECT_EQ(outcome(add_keys(*rebuild->target(), given)), "300 fresh");
    EXPECT_EQ(outcome(check_keys(*writer_, given)), "300 seen") << "as soon as they are given";
    EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen") << "until it is done";
    rebuild->commit();
  }
  const auto opened = client();
  EXPECT_EQ(opened->get_spec(), spec_of(5'000, 2));
  for (const auto& each : {opened, writer_, reader_}) {
    EXPECT_EQ(outcome(check_keys(*each, given)), "300 seen");
    EXPECT_EQ(outcome(check_keys(*each, old_)), "500 fresh");
  }
  expect_nothing_else_is_left();
}

TEST_F(RebuildJudgedByClients, HoldsWhatWasAddedMeanwhile) {
  const auto rebuild = begin();
  const auto meanwhile = source_.take(700);
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "700 fresh");
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "700 seen");
  EXPECT_EQ(outcome(check_keys(*reader_, meanwhile)), "700 seen");
  rebuild->commit();
  for (const auto& each : {client(), writer_, reader_})
    EXPECT_EQ(outcome(check_keys(*each, meanwhile)), "700 seen");
}

TEST_F(RebuildJudgedByClients, KeysThatCameAgainMeanwhileAreKept) {
  EXPECT_EQ(outcome(add_keys(*writer_, old_)), "500 seen") << "so it knows all partitions as they were";
  const auto rebuild = begin();
  EXPECT_EQ(outcome(add_keys(*writer_, old_)), "500 seen");
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*writer_, old_)), "500 seen");
}

TEST_F(RebuildJudgedByClients, MayDivideTheFilterOtherwise) {
  for (const std::uint32_t partitions : {5U, 1U, 3U}) {
    const auto meanwhile = source_.take(400);
    const auto rebuild = begin(2'000, partitions);
    EXPECT_EQ(outcome(add_keys(*rebuild->target(), old_)), "500 fresh");
    EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "400 fresh");
    rebuild->commit();
    const auto after = source_.take(400);
    EXPECT_EQ(outcome(add_keys(*writer_, after)), "400 fresh");
    EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "400 seen");
    EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen");
    EXPECT_EQ(outcome(check_keys(*client("clicks", access::read), after)), "400 seen");
  }
  expect_nothing_else_is_left();
}

TEST_F(RebuildJudgedByClients, KeepsTheWindow) {
  spec s = judged_by_clients(
      {.capacity = 500, .error_rate = 1e-12, .window = window_spec{60s, 3}, .partitions = 2});
  const auto recent = store_->create("recent", s);
  ASSERT_TRUE(add_keys(*recent, old_, event_time(100s)).result);
  const auto rebuild = store_->begin_rebuild("recent", s, {});
  const auto meanwhile = source_.take(50);
  EXPECT_EQ(outcome(add_keys(*recent, meanwhile, event_time(110s))), "50 fresh");
  EXPECT_EQ(outcome(add_keys(*recent, old_, event_time(110s))), "500 seen");
  rebuild->commit();
  EXPECT_EQ(add_keys(*recent, meanwhile, event_time(120s)).result->seen, 50u);
  EXPECT_EQ(add_keys(*recent, meanwhile, event_time(0s)).result->late, 50u);
  s.window = window_spec{120s, 3};
  EXPECT_THROW(store_->begin_rebuild("recent", s, {}), parameter_error);
}

TEST_F(RebuildJudgedByClients, ThatNoClientCouldHoldIsRefused) {
  const auto small = store_at(server_.unix_url("?mirror=1Mi"));
  EXPECT_THAT(message_of<parameter_error>([&] { small->begin_rebuild("clicks", spec_of(1'000'000, 2), {}); }),
              HasSubstr("give the option mirror="));
  EXPECT_THAT(message_of<parameter_error>([&] { small->create("large", spec_of(1'000'000, 2)); }),
              HasSubstr("give the option mirror="));
  expect_nothing_else_is_left();
}

TEST_F(RebuildJudgedByClients, IsNamedUntilItIsDone) {
  EXPECT_FALSE(client()->asks_first());
  const auto rebuild = begin();
  ASSERT_TRUE(client()->asks_first());
  EXPECT_EQ(client()->asks_first()->name, "clicks");
  rebuild->commit();
  EXPECT_FALSE(client()->asks_first());
}

TEST_F(RebuildJudgedByClients, PartitionThatIsMissingIsDamageAndNoDrop) {
  const std::string state = key_like(server_, "everseen:{*/0}");
  ASSERT_EQ(server_.run({"DEL", state}), "1");
  const auto told = failure_of_add(*writer_, source_.take(100));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->why, batch_failure::cause::format);
  EXPECT_THAT(told->message, HasSubstr(state + " is missing"));
}

TEST_F(RebuildJudgedByClients, OfAnotherSeedIsRefused) {
  spec other = spec_of(5'000, 2);
  other.seed[0] = 1;
  EXPECT_THAT(message_of<parameter_error>([&] { store_->begin_rebuild("clicks", other, {}); }),
              HasSubstr("another seed"));
  EXPECT_THROW(store_->begin_rebuild("nope", spec_of(100, 1), {}), parameter_error);
  expect_nothing_else_is_left();
}

TEST_F(RebuildJudgedByClients, GivenUpForgetsNothingAndTheNextOneEndsIt) {
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
    EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen") << "by way of two";
    EXPECT_EQ(outcome(add_keys(*again->target(), meanwhile)), "300 fresh");
    again->commit();
  }
  for (const auto& each : {client(), writer_, reader_}) {
    EXPECT_EQ(outcome(check_keys(*each, meanwhile)), "300 seen");
    EXPECT_EQ(outcome(check_keys(*each, old_)), "500 fresh");
  }
  expect_nothing_else_is_left();
}

TEST_F(RebuildJudgedByClients, ThatDiesAtAnyStepForgetsNothingAndCallsNothingFreshTwice) {
  for (const step last : {step::prepared, step::decided, step::in_place, step::sealed}) {
    SCOPED_TRACE(static_cast<int>(last));
    (void)rebuild_that_dies_at(last);
    const auto keys = source_.take(400);
    const auto opened = client();
    EXPECT_EQ(outcome(add_keys(*opened, std::span(keys).first(200))), "200 fresh");
    EXPECT_EQ(outcome(add_keys(*writer_, keys)), "200 fresh, 200 seen, 0 late, 0 unknown");
    EXPECT_EQ(outcome(add_keys(*opened, keys)), "400 seen");
    EXPECT_EQ(outcome(check_keys(*reader_, keys)), "400 seen");
    EXPECT_EQ(outcome(check_keys(*client("clicks", access::read), old_)), "500 seen");
  }
}

TEST_F(RebuildJudgedByClients, ThatDiesLeavesNothingBehindOnceTheFilterIsDropped) {
  for (const step last : {step::decided, step::in_place, step::sealed}) {
    SCOPED_TRACE(static_cast<int>(last));
    (void)rebuild_that_dies_at(last);
    store_->drop("clicks");
    EXPECT_THAT(ids(), IsEmpty());
    EXPECT_THAT(index_fields(), IsEmpty());
    EXPECT_TRUE(failure_of_add(*writer_, source_.take(10)));
    (void)store_->create("clicks", spec_of(300, 2));
  }
}

TEST_F(RebuildJudgedByClients, WhoseSuccessorHasExpiredIsForgotten) {
  const filter_identity next = rebuild_that_dies_at(step::decided);
  server_.run({"DEL", next.keys.header()});
  EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen");
  EXPECT_EQ(outcome(add_keys(*writer_, source_.take(300))), "300 fresh");
  EXPECT_EQ(outcome(add_keys(*client(), old_)), "500 seen");
  const auto rebuild = begin();
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*writer_, old_)), "500 fresh");
}

TEST_F(RebuildJudgedByClients, OfTwoAtOnceTheSecondWins) {
  const auto first = begin();
  const auto second = begin(1'000, 3);
  const auto meanwhile = source_.take(100);
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "100 fresh");
  EXPECT_THAT(message_of<error>([&] { first->commit(); }), HasSubstr("clicks"));
  second->commit();
  EXPECT_EQ(outcome(check_keys(*writer_, meanwhile)), "100 seen");
  EXPECT_EQ(client("clicks", access::read)->get_spec(), spec_of(1'000, 3));
  expect_nothing_else_is_left();
}

TEST_F(RebuildJudgedByClients, IsStoppedByAResetAndByADrop) {
  for (const bool drop : {false, true}) {
    const auto rebuild = begin();
    ASSERT_TRUE(add_keys(*rebuild->target(), old_).result);
    drop ? store_->drop("clicks") : store_->reset("clicks");
    EXPECT_THROW(rebuild->commit(), error);
    if (!drop) {
      EXPECT_EQ(outcome(check_keys(*writer_, old_)), "500 fresh");
      expect_nothing_else_is_left();
    }
  }
  EXPECT_FALSE(store_->exists("clicks"));
  EXPECT_THAT(ids(), IsEmpty());
}

TEST_F(RebuildJudgedByClients, GoesOnUnderAnotherName) {
  const auto rebuild = begin();
  const auto meanwhile = source_.take(100);
  store_->rename("clicks", "taps", store::namesake::refuse);
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "100 fresh");
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*client("taps"), meanwhile)), "100 seen");
  EXPECT_EQ(outcome(check_keys(*client("taps"), old_)), "500 fresh");
  expect_nothing_else_is_left();
}

TEST_F(RebuildJudgedByClients, FromACopyHasItsBitsAndWhatWasAddedMeanwhile) {
  struct copied {
    segment_id id;
    std::vector<std::byte> bits;
  };
  std::vector<copied> copy;
  std::vector<partition_state> states;
  for (std::uint32_t p = 0; p < 2; ++p) {
    states.push_back(writer_->state(p));
    writer_->visit_segments(p, [&](const auto& id, const auto&, auto bits) {
      copy.push_back({id, {bits.begin(), bits.end()}});
    });
  }
  const auto forgotten = source_.take(100);
  ASSERT_EQ(outcome(add_keys(*writer_, forgotten)), "100 fresh");
  const auto rebuild = store_->begin_rebuild("clicks", writer_->get_spec(), states);
  for (const copied& segment : copy) rebuild->merge(segment.id, segment.bits);
  (void)rebuild->target();
  const auto meanwhile = source_.take(100);
  EXPECT_EQ(outcome(add_keys(*writer_, meanwhile)), "100 fresh") << "meets the bits of the copy";
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*writer_, old_)), "500 seen");
  EXPECT_EQ(outcome(check_keys(*writer_, meanwhile)), "100 seen");
  EXPECT_EQ(outcome(check_keys(*writer_, forgotten)), "100 fresh");
  EXPECT_EQ(test::keys_in(*client("clicks", access::read)), 600u);
}

TEST_F(RebuildJudgedByClients, OfAnExpiringFilterKeepsItsEndAndItCannotBeMovedMeanwhile) {
  const auto today = store_->create_expiring("today", spec_of(300, 2), 1h);
  const auto end = today->ends_at();
  ASSERT_TRUE(add_keys(*today, old_).result);
  const auto rebuild = store_->begin_rebuild("today", spec_of(300, 3), {});
  EXPECT_THAT(message_of<parameter_error>([&] { client("today")->end_at(*end + 1h); }),
              HasSubstr("is being rebuilt"));
  rebuild->commit();
  EXPECT_EQ(client("today")->ends_at(), end);
  EXPECT_EQ(today->ends_at(), end);
  client("today")->end_at(*end + 1h);
  EXPECT_EQ(today->ends_at(), *end + 1h);
}

TEST_F(RebuildJudgedByClients, OfAFilterWithJobsIsRefusedAndAJobWhileItGoesOn) {
  {
    const auto job = writer_->open_ledger("count", "");
    EXPECT_THAT(message_of<parameter_error>([&] { (void)begin(); }), HasSubstr("count"));
  }
  writer_->end_job("count");
  const auto rebuild = begin();
  EXPECT_THAT(message_of<error>([&] { (void)writer_->open_ledger("count", ""); }), HasSubstr("rebuilt"));
  EXPECT_THAT(message_of<parameter_error>([&] { (void)client()->open_ledger("count", ""); }),
              HasSubstr("is being rebuilt"));
  rebuild->commit();
  EXPECT_NE(client()->open_ledger("count", ""), nullptr);
}

TEST_F(RebuildJudgedByClients, OfAFilterThatAsksAnotherFirstGoesOnAsking) {
  const auto asked = source_.take(100);
  ASSERT_TRUE(add_keys(*store_->create("older", spec_of(300, 2)), asked).result);
  store_->link("older", "clicks", {});
  begin()->commit();
  const auto opened = client();
  ASSERT_TRUE(opened->asks_first());
  EXPECT_EQ(opened->asks_first()->name, "older");
  store_->unlink("clicks");
  EXPECT_FALSE(client()->asks_first());
}

// What is too late for a window stays so.
TEST_F(RebuildJudgedByClients, CallsNothingFreshThatWasTooLate) {
  const spec s = judged_by_clients(
      {.capacity = 500, .error_rate = 1e-12, .window = window_spec{60s, 3}, .partitions = 2});
  const auto recent = store_->create("recent", s);
  ASSERT_TRUE(add_keys(*recent, old_, event_time(30s)).result);
  ASSERT_TRUE(add_keys(*recent, source_.take(50), event_time(200s)).result);
  EXPECT_EQ(add_keys(*recent, old_, event_time(30s)).result->late, 500U);
  const auto rebuild = store_->begin_rebuild("recent", s, {});
  EXPECT_EQ(add_keys(*recent, old_, event_time(30s)).result->late, 500U);
  rebuild->commit();
  EXPECT_EQ(add_keys(*recent, old_, event_time(30s)).result->late, 500U);
  EXPECT_EQ(add_keys(*client("recent"), old_, event_time(30s)).result->late, 500U);
}

TEST_F(RebuildJudgedByClients, IsNotExportedUntilItIsWhole) {
  const auto nothing = [](const auto&, const auto&, auto) {};
  {
    const auto rebuild = begin();
    EXPECT_THAT(message_of<storage_error>([&] { client()->visit_segments(0, nothing); }),
                HasSubstr("is being rebuilt"));
    EXPECT_THAT(message_of<storage_error>([&] { writer_->visit_segments(0, nothing); }),
                HasSubstr("open it again"));
    rebuild->commit();
  }
  client()->visit_segments(0, nothing);
}

TEST_F(RebuildJudgedByClients, OfAFilterThatWasMadeAnewMeanwhileIsRefused) {
  const auto base = std::vector<partition_state>{writer_->state(0), writer_->state(1)};
  std::vector<std::pair<segment_id, std::vector<std::byte>>> copy;
  for (std::uint32_t p = 0; p < 2; ++p)
    writer_->visit_segments(p, [&](const auto& id, const auto&, auto bits) {
      copy.emplace_back(id, std::vector<std::byte>(bits.begin(), bits.end()));
    });
  const auto rebuild = store_->begin_rebuild("clicks", writer_->get_spec(), base);
  for (const auto& [id, bits] : copy) rebuild->merge(id, bits);
  store_->drop("clicks");
  const auto another = store_->create("clicks", spec_of(300, 2));
  EXPECT_THAT(message_of<storage_error>([&] { rebuild->commit(); }), HasSubstr("begin again"));
  EXPECT_EQ(outcome(add_keys(*another, old_)), "500 fresh");
}

// A server that came back without the last step of a rebuild names a filter that is gone.
TEST_F(RebuildJudgedByClients, WhoseLastStepWasLostIsFinished) {
  begin()->commit();
  const std::string header = key_like(server_, "everseen:{????????????????????????????????}");
  server_.run({"HSET", header, "after", std::string(16, 'x')});
  EXPECT_EQ(outcome(add_keys(*client(), old_)), "500 fresh");
  EXPECT_EQ(outcome(check_keys(*client("clicks", access::read), old_)), "500 seen");
  EXPECT_EQ(server_.run({"HEXISTS", header, "after"}), "0");
}

// Threads that meet a seal in the middle of their batches: each key is fresh once, whatever generation has
// it.
TEST_F(RebuildJudgedByClients, OfManyThreadsExactlyOneIsToldFreshWhileFiltersComeAndGo) {
  const auto keys = source_.take(20'000);
  std::vector<std::atomic<int>> fresh(keys.size());
  std::atomic<bool> failed = false;
  const auto add = [&](std::shared_ptr<stored_filter> to, std::size_t begin) {
    for (std::size_t done = 0; done < keys.size(); done += 50) {
      const std::size_t from = (begin + done) % keys.size();
      const auto got = add_keys(*to, std::span(keys).subspan(from, 50));
      if (!got.result) failed = true;
      for (std::size_t i = 0; i < 50; ++i) fresh[from + i] += got.verdicts[i] == verdict::fresh;
      std::this_thread::sleep_for(5ms);
    }
  };
  std::vector<std::future<void>> adding;
  for (std::size_t i = 0; i < 6; ++i)
    adding.push_back(std::async(std::launch::async, add, i % 2 == 0 ? writer_ : client(), i * 3'000));
  for (const std::uint32_t partitions : {3U, 2U}) {
    const auto rebuild = begin(20'000, partitions);
    std::this_thread::sleep_for(100ms);
    std::vector<digest> so_far;
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (fresh[i] > 0) so_far.push_back(keys[i]);
    EXPECT_TRUE(add_keys(*rebuild->target(), so_far).result);
    rebuild->commit();
  }
  for (auto& each : adding) each.get();
  EXPECT_FALSE(failed);
  EXPECT_EQ(std::ranges::count_if(fresh, [](const auto& n) { return n != 1; }), 0);
}

TEST(RebuildJudgedByClientsOnSeveralServers, LosesNothing) {
  redis_server one, other;
  const auto store = store_at("redis://" + one.address() + "," + other.address());
  random_digests source(1);
  const auto old = source.take(500);
  const auto filter = store->create("spread", spec_of(300, 4));
  ASSERT_TRUE(add_keys(*filter, old).result);
  const auto rebuild = store->begin_rebuild("spread", spec_of(1'000, 3), {});
  const auto meanwhile = source.take(300);
  EXPECT_EQ(outcome(add_keys(*filter, meanwhile)), "300 fresh");
  EXPECT_EQ(outcome(add_keys(*rebuild->target(), old)), "500 fresh");
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*filter, meanwhile)), "300 seen");
  EXPECT_EQ(outcome(check_keys(*filter, old)), "500 seen");
}

}  // namespace
}  // namespace everseen::redis
