// A filter is made anew while others use it.

#include <chrono>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/error.hpp"
#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/upkeep.hpp"

#include "test/redis/stored.hpp"
#include "test/support/child_process.hpp"
#include "test/support/cutting_proxy.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::add_keys;
using test::check_keys;
using test::child_process;
using test::random_digests;
using test::redis_server;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The filter `clicks`, which holds `old_`; some other client has it open.
class Rebuild : public testing::Test {
 protected:
  Rebuild() {
    EXPECT_TRUE(add_keys(*store_->create("clicks", spec_of(300, 2)), old_).result);
    client_ = store_at(server_.url())->open("clicks", access::write);
    reader_ = store_at(server_.url())->open("clicks", access::read);
    EXPECT_EQ(outcome(check_keys(*client_, old_)), "500 seen");
    EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen");
  }

  spec spec_of(std::uint64_t capacity, std::uint32_t partitions) const {
    return planned(*store_, {.capacity = capacity, .error_rate = 1e-12, .partitions = partitions});
  }
  std::unique_ptr<store::rebuild> begin(std::uint64_t capacity = 5'000, std::uint32_t partitions = 2) {
    return store_->begin_rebuild("clicks", spec_of(capacity, partitions), {});
  }
  /// Keys of partitions that do not end by themselves.
  std::vector<std::string> lasting_keys() const {
    std::vector<std::string> keys;
    for (const std::string& key : keys_like(server_, "everseen:{clicks/*"))
      if (server_.run({"PTTL", key}) == "-1") keys.push_back(key);
    return keys;
  }
  void expect_only_the_live_generation_lasts() const {
    const std::string live = server_.run({"HGET", "everseen:clicks", "generation"});
    for (const std::string& key : lasting_keys())
      EXPECT_THAT(key, HasSubstr("{clicks/" + live + "/")) << "left behind";
    EXPECT_EQ(server_.run({"HEXISTS", "everseen:clicks", "next"}), "0");
  }

  redis_server server_;
  std::shared_ptr<redis_store> store_ = store_at(server_.url());
  random_digests source_{1};
  std::vector<digest> old_ = source_.take(500);
  std::shared_ptr<stored_filter> client_, reader_;
};

TEST_F(Rebuild, HoldsWhatItWasGivenAndNothingElse) {
  const auto given = source_.take(300);
  {
    const auto rebuild = begin();
    EXPECT_EQ(outcome(add_keys(*rebuild->target(), given)), "300 fresh");
    EXPECT_EQ(outcome(check_keys(*client_, given)), "300 fresh") << "not in place yet";
    rebuild->commit();
  }
  const auto opened = store_->open("clicks", access::write);
  EXPECT_EQ(opened->get_spec(), spec_of(5'000, 2));
  for (const auto& each : {opened, client_, reader_}) {
    EXPECT_EQ(outcome(check_keys(*each, given)), "300 seen");
    EXPECT_EQ(outcome(check_keys(*each, old_)), "500 fresh");
  }
  expect_only_the_live_generation_lasts();
}

TEST_F(Rebuild, HoldsWhatWasAddedMeanwhile) {
  const auto rebuild = begin();
  const auto meanwhile = source_.take(700);
  EXPECT_EQ(outcome(add_keys(*client_, meanwhile)), "700 fresh");
  EXPECT_EQ(outcome(add_keys(*client_, meanwhile)), "700 seen");
  EXPECT_EQ(outcome(check_keys(*reader_, meanwhile)), "700 seen");
  rebuild->commit();
  for (const auto& each : {store_->open("clicks", access::write), client_, reader_})
    EXPECT_EQ(outcome(check_keys(*each, meanwhile)), "700 seen");
}

TEST_F(Rebuild, KeysThatCameAgainMeanwhileAreKept) {
  const auto rebuild = begin();
  EXPECT_EQ(outcome(add_keys(*client_, old_)), "500 seen");
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*client_, old_)), "500 seen");
}

TEST_F(Rebuild, MayDivideTheFilterOtherwise) {
  for (const std::uint32_t partitions : {5U, 1U, 3U}) {
    const auto meanwhile = source_.take(400);
    const auto rebuild = begin(2'000, partitions);
    EXPECT_EQ(outcome(add_keys(*rebuild->target(), old_)), "500 fresh");
    EXPECT_EQ(outcome(add_keys(*client_, meanwhile)), "400 fresh");
    rebuild->commit();
    const auto after = source_.take(400);
    EXPECT_EQ(outcome(add_keys(*client_, after)), "400 fresh");
    EXPECT_EQ(outcome(add_keys(*client_, meanwhile)), "400 seen");
    EXPECT_EQ(outcome(check_keys(*reader_, old_)), "500 seen");
    EXPECT_EQ(outcome(check_keys(*store_->open("clicks", access::read), after)), "400 seen");
  }
}

/// Has no more descriptors for the next attempt, say.
class throwing final : public patience {
 public:
  bool tries_again(const outage&) override { throw storage_error("no more descriptors", 0, {}); }
  void is_over() override {}
};

TEST_F(Rebuild, ThatDividedTheFilterOtherwiseKeepsWhatWasAnsweredBeforeTheSystemRefused) {
  using test::cutting_proxy;
  cutting_proxy proxy(server_.port());
  const auto cut = store_at(proxy.url())->open("clicks", access::write);
  begin(50'000, 3)->commit();
  ASSERT_EQ(outcome(check_keys(*cut, old_)), "500 fresh");
  cut->wait_with(std::make_shared<throwing>());
  proxy.cut_after(cutting_proxy::direction::to_client,
                  3'500);  // three calls of 1000 keys, not the next three
  const auto got = add_keys(*cut, source_.take(5'000));
  ASSERT_TRUE(proxy.has_cut());
  ASSERT_FALSE(got.result);
  EXPECT_EQ(got.result.error().message, "no more descriptors");
  EXPECT_EQ(got.result.error().done, (tally{.fresh = 3'000, .unknown = 2'000}));
}

TEST_F(Rebuild, KeepsTheWindow) {
  const spec s = planned(
      *store_, {.capacity = 500, .error_rate = 1e-12, .window = window_spec{60s, 3}, .partitions = 2});
  const auto recent = store_->create("recent", s);
  ASSERT_TRUE(add_keys(*recent, old_, event_time(100s)).result);
  const auto rebuild = store_->begin_rebuild("recent", s, {});
  const auto meanwhile = source_.take(50);
  EXPECT_EQ(outcome(add_keys(*recent, meanwhile, event_time(110s))), "50 fresh");
  rebuild->commit();
  EXPECT_EQ(add_keys(*recent, meanwhile, event_time(120s)).result->seen, 50u);
  EXPECT_EQ(add_keys(*recent, meanwhile, event_time(0s)).result->late, 50u);
  spec other = s;
  other.window = window_spec{120s, 3};
  EXPECT_THROW(store_->begin_rebuild("recent", other, {}), parameter_error);
}

TEST_F(Rebuild, OfAnotherSeedIsRefused) {
  spec other = spec_of(5'000, 2);
  other.seed[0] = 1;
  EXPECT_THAT(message_of<parameter_error>([&] { store_->begin_rebuild("clicks", other, {}); }),
              HasSubstr("another seed"));
  EXPECT_THROW(store_->begin_rebuild("nope", spec_of(100, 1), {}), parameter_error);
  expect_only_the_live_generation_lasts();
}

TEST_F(Rebuild, GivenUpLeavesTheFilterAsItWas) {
  const auto meanwhile = source_.take(300);
  {
    const auto rebuild = begin();
    EXPECT_EQ(outcome(add_keys(*client_, meanwhile)), "300 fresh");
  }
  EXPECT_EQ(outcome(check_keys(*client_, meanwhile)), "300 seen");
  EXPECT_EQ(outcome(add_keys(*client_, old_)), "500 seen");
  EXPECT_EQ(outcome(add_keys(*client_, source_.take(100))), "100 fresh");
  EXPECT_EQ(store_->open("clicks", access::read)->get_spec(), spec_of(300, 2));
  expect_only_the_live_generation_lasts();
}

TEST_F(Rebuild, ThatDiesLeavesAFilterThatWorksAndIsClearedAwayByTheNext) {
  {
    child_process dying([&](const auto& tell) {
      const auto rebuild = store_at(server_.url())->begin_rebuild("clicks", spec_of(5'000, 3), {});
      (void)add_keys(*rebuild->target(), old_);
      tell(1);
      std::this_thread::sleep_for(1h);
    });
    ASSERT_EQ(dying.next(), 1);
  }
  const auto meanwhile = source_.take(300);
  EXPECT_EQ(outcome(add_keys(*client_, meanwhile)), "300 fresh");
  for (const std::string& key : keys_like(server_, "everseen:{clicks/*")) {
    const std::string live = server_.run({"HGET", "everseen:clicks", "generation"});
    if (key.find("{clicks/" + live + "/") == std::string::npos) {
      EXPECT_GT(std::stol(server_.run({"PTTL", key})), 0) << key << " would stay for good";
    }
  }
  const auto rebuild = begin();
  EXPECT_EQ(outcome(add_keys(*client_, meanwhile)), "300 seen");
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*client_, meanwhile)), "300 seen");
  EXPECT_EQ(outcome(check_keys(*client_, old_)), "500 fresh");
  expect_only_the_live_generation_lasts();
}

TEST_F(Rebuild, ThatDiesWhilePartitionsCloseIsFinishedByWhoOpensTheFilter) {
  const auto given = source_.take(200);
  const catalogue names(parse_redis_url("redis://localhost"));
  session with(parse_redis_url(server_.url()));
  {
    // What commit() does, up to the middle.
    const auto rebuild = begin();
    ASSERT_TRUE(add_keys(*rebuild->target(), given).result);
    header h = names.read_header(with, "clicks");
    for (std::uint32_t p = 0; p < 2; ++p) make_lasting(with, *h.next, p);
    ASSERT_TRUE(change_header(with, "everseen:clicks", {}, {{"next_ready", "1"}}));
    close_partition(with, h.live, 1, catalogue::server_time(with, "everseen:clicks") + 1min);
  }
  const auto half = source_.take(400);
  EXPECT_EQ(outcome(add_keys(*client_, half)), "400 fresh") << "one partition of the old, one of the new";
  EXPECT_EQ(outcome(add_keys(*client_, half)), "400 seen");
  EXPECT_EQ(outcome(check_keys(*reader_, half)), "400 seen");
  EXPECT_EQ(outcome(check_keys(*reader_, given)).substr(0, 3),
            outcome(check_keys(*client_, given)).substr(0, 3));
  const auto opened = store_->open("clicks", access::write);
  for (const auto& each : {opened, client_, reader_}) {
    EXPECT_EQ(outcome(check_keys(*each, half)), "400 seen");
    EXPECT_EQ(outcome(check_keys(*each, given)), "200 seen");
  }
  expect_only_the_live_generation_lasts();
}

TEST_F(Rebuild, OfTwoAtOnceTheSecondWins) {
  const auto first = begin();
  const auto second = begin(1'000, 3);
  const auto meanwhile = source_.take(100);
  EXPECT_EQ(outcome(add_keys(*client_, meanwhile)), "100 fresh");
  EXPECT_THAT(message_of<error>([&] { first->commit(); }), AllOf(HasSubstr("clicks")));
  second->commit();
  EXPECT_EQ(outcome(check_keys(*client_, meanwhile)), "100 seen");
  EXPECT_EQ(store_->open("clicks", access::read)->get_spec(), spec_of(1'000, 3));
}

TEST_F(Rebuild, IsStoppedByAResetAndByADrop) {
  for (const bool drop : {false, true}) {
    const auto rebuild = begin();
    ASSERT_TRUE(add_keys(*rebuild->target(), old_).result);
    drop ? store_->drop("clicks") : store_->reset("clicks");
    EXPECT_THROW(rebuild->commit(), error);
    if (!drop) {
      EXPECT_EQ(outcome(check_keys(*client_, old_)), "500 fresh");
    }
  }
  EXPECT_FALSE(store_->exists("clicks"));
  EXPECT_THAT(lasting_keys(), IsEmpty());
}

TEST_F(Rebuild, OfALostSegmentFailsAndLeavesTheFilterAsItWas) {
  {
    const auto rebuild = begin();
    ASSERT_TRUE(add_keys(*rebuild->target(), source_.take(300)).result);
    const std::string next = server_.run({"HGET", "everseen:clicks", "next"});
    ASSERT_EQ(server_.run({"DEL", "everseen:{clicks/" + next + "/1}:0.0"}), "1");
    EXPECT_THAT(message_of<format_error>([&] { rebuild->commit(); }), HasSubstr(next + "/1}:0.0 is missing"));
  }
  EXPECT_EQ(outcome(check_keys(*client_, old_)), "500 seen");
  expect_only_the_live_generation_lasts();
}

TEST_F(Rebuild, FromACopyHasItsBitsAndWhatWasAddedMeanwhile) {
  struct copied {
    segment_id id;
    std::vector<std::byte> bits;
  };
  std::vector<copied> copy;
  std::vector<partition_state> states;
  for (std::uint32_t p = 0; p < 2; ++p) {
    states.push_back(client_->state(p));
    client_->visit_segments(p, [&](const auto& id, const auto&, auto bits) {
      copy.push_back({id, {bits.begin(), bits.end()}});
    });
  }
  const auto forgotten = source_.take(100);
  ASSERT_EQ(outcome(add_keys(*client_, forgotten)), "100 fresh");
  const auto rebuild = store_->begin_rebuild("clicks", client_->get_spec(), states);
  const auto meanwhile = source_.take(100);
  EXPECT_EQ(outcome(add_keys(*client_, meanwhile)), "100 fresh") << "meets the bits of the copy";
  for (const copied& segment : copy) rebuild->merge(segment.id, segment.bits);
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*client_, old_)), "500 seen");
  EXPECT_EQ(outcome(check_keys(*client_, meanwhile)), "100 seen");
  EXPECT_EQ(outcome(check_keys(*client_, forgotten)), "100 fresh");
  EXPECT_EQ(test::keys_in(*store_->open("clicks", access::read)), 600u);
}

TEST_F(Rebuild, OfAnExpiringFilterKeepsItsEnd) {
  const auto today = store_->create_expiring("today", spec_of(300, 2), 1h);
  ASSERT_TRUE(add_keys(*today, old_).result);
  const auto rebuild = store_->begin_rebuild("today", spec_of(300, 3), {});
  ASSERT_TRUE(add_keys(*rebuild->target(), old_).result);
  rebuild->commit();
  ASSERT_TRUE(add_keys(*today, source_.take(1'000)).result) << "grows";
  const std::string live = server_.run({"HGET", "everseen:today", "generation"});
  const std::string end = server_.run({"PEXPIRETIME", "everseen:today"});
  for (const std::string& key : keys_like(server_, "everseen:{today/" + live + "/*"))
    if (key.find(":t:") == std::string::npos) {
      EXPECT_EQ(server_.run({"PEXPIRETIME", key}), end) << key;
    }
}

TEST_F(Rebuild, WorksForClientsOfTheModule) {
  const redis_server server(test::with_module());
  const auto scripts = store_at(server.url("?gear=script"));
  const auto client = scripts->create("clicks", spec_of(300, 2));
  ASSERT_TRUE(add_keys(*client, old_).result);
  const auto by_module = store_at(server.url("?gear=module"))->open("clicks", access::write);
  EXPECT_EQ(outcome(check_keys(*by_module, old_)), "500 seen");
  const auto rebuild = scripts->begin_rebuild("clicks", spec_of(2'000, 3), {});
  ASSERT_TRUE(add_keys(*rebuild->target(), old_).result);
  const auto meanwhile = source_.take(300);
  EXPECT_EQ(outcome(add_keys(*by_module, meanwhile)), "300 fresh");
  rebuild->commit();
  EXPECT_EQ(outcome(add_keys(*by_module, meanwhile)), "300 seen");
  EXPECT_EQ(outcome(add_keys(*by_module, source_.take(100))), "100 fresh");
  EXPECT_EQ(outcome(check_keys(*client, meanwhile)), "300 seen");
}

TEST_F(Rebuild, WorksOnSeveralInstances) {
  redis_server other;
  const std::string url = "redis://" + server_.address() + "," + other.address();
  const auto many = store_at(url);
  const auto filter = many->create("spread", spec_of(300, 4));
  ASSERT_TRUE(add_keys(*filter, old_).result);
  const auto rebuild = many->begin_rebuild("spread", spec_of(1'000, 3), {});
  const auto meanwhile = source_.take(300);
  EXPECT_EQ(outcome(add_keys(*filter, meanwhile)), "300 fresh");
  EXPECT_EQ(outcome(add_keys(*rebuild->target(), old_)), "500 fresh");
  rebuild->commit();
  EXPECT_EQ(outcome(check_keys(*filter, meanwhile)), "300 seen");
  EXPECT_EQ(outcome(check_keys(*filter, old_)), "500 seen");
}

}  // namespace
}  // namespace everseen::redis
