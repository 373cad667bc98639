// Filters that their clients judge, on connections that are cut at every byte: answers equal those of an
// undisturbed run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/redis/journal/judged_by_clients.hpp"
#include "test/support/claimed_events.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::claim_events;
using test::cutting_proxy;
using test::event;
using test::random_digests;
using test::text_of;

class JournalCut : public JudgedByClients {
 protected:
  /// Bytes that a call sends and receives without a cut.
  template <typename Call>
  std::size_t bytes_of(cutting_proxy& proxy, direction d, Call call) {
    const std::size_t before = proxy.passed(d);
    call();
    return proxy.passed(d) - before;
  }
  static constexpr direction both_ways[] = {direction::to_server, direction::to_client};

  random_digests random_{41};
};

TEST_F(JournalCut, AddThatLostARaceIsExactAtEveryByte) {
  const auto beside = make({.capacity = 100'000, .error_rate = 1e-12, .partitions = 1});
  cutting_proxy proxy(server_.port());
  const auto filter = client_by(proxy);
  std::uint64_t all = 0;
  // The first attempt is refused, the second one adds the remaining keys.
  const auto step = [&](std::size_t offset) {
    const auto keys = random_.take(4);
    ASSERT_EQ(fresh_in(add_keys(*beside, std::span(keys).first(2))), 2u) << offset;
    const auto got = add_keys(*filter, std::span(keys).subspan(1));
    ASSERT_TRUE(got.result) << offset << ": " << got.result.error().message;
    ASSERT_EQ(text_of(got.verdicts), "100") << offset;
    all += 4;
  };
  step(0);
  for (const direction d : both_ways) {
    const std::size_t bytes = bytes_of(proxy, d, [&] { step(0); });
    for (std::size_t position = 0; position <= bytes + 8; ++position) {
      proxy.cut_after(d, position);
      step(position);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(test::keys_in(*client()), all);
}

TEST_F(JournalCut, LongRecordsThatLostARaceAreExactWhereverTheyAreCut) {
  const auto beside = make({.capacity = 1'000'000, .error_rate = 1e-9, .partitions = 1});
  cutting_proxy proxy(server_.port());
  const auto filter = client_by(proxy);
  std::uint64_t all = 0;
  const auto step = [&](std::size_t offset) {
    const auto keys = random_.take(2 * many);
    ASSERT_EQ(fresh_in(add_keys(*beside, std::span(keys).first(many))), many) << offset;
    const auto got = add_keys(*filter, std::span(keys).subspan(many - 1));
    ASSERT_TRUE(got.result) << offset << ": " << got.result.error().message;
    ASSERT_EQ(text_of(got.verdicts), "1" + std::string(many, '0')) << offset;
    all += 2 * many;
  };
  step(0);
  for (const direction d : both_ways) {
    const std::size_t bytes = bytes_of(proxy, d, [&] { step(0); });
    // Dense where commands begin and end, sparse within the records.
    const std::size_t record = key_bytes(filter->get_spec()) * many;
    for (std::size_t position = 0; position <= bytes + 8;
         position +=
         position < 200 || (position > record && position < record + 1500) || position + 1200 > bytes ? 11
                                                                                                      : 997) {
      proxy.cut_after(d, position);
      step(position);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_THAT(keys_like(server_, "everseen:{*/0}:s*"), testing::IsEmpty());
  EXPECT_EQ(test::keys_in(*client()), all);
}

TEST_F(JournalCut, ClaimIsExactAtEveryByte) {
  const spec_request request{.capacity = 100'000, .error_rate = 1e-12, .partitions = 1};
  const auto made = make(request);
  const spec& s = made->get_spec();
  const opened_job beside(client());
  cutting_proxy proxy(server_.port());
  const opened_job job(client_by(proxy));
  std::uint64_t position = 0;
  std::int64_t all = 0;
  const auto step = [&](std::size_t offset) {
    const auto keys = random_.take(3);
    const std::vector<event> theirs = {{position, keys[0], {}, {"all", "theirs"}}};
    const std::vector<event> ours = {{position, keys[0], {}, {"all", "ours"}},
                                     {position + 1, keys[1], {}, {"all", "ours"}},
                                     {position + 2, keys[2], {}, {"all", "ours"}},
                                     {position + 3, keys[1], {}, {"all", "ours"}}};
    position += 4;
    ASSERT_EQ(text_of(claim_events(*beside, s, {"beside", position - 4}, theirs).verdicts), "0") << offset;
    const auto got = claim_events(*job, s, {"lane", position - 4}, ours);
    ASSERT_TRUE(got.result) << offset << ": " << got.result.error().message;
    ASSERT_EQ(text_of(got.verdicts), "1001") << offset;
    ASSERT_EQ(got.before, std::vector<std::uint8_t>(4, 0)) << offset << ": they are its own";
    ++all;
  };
  step(0);
  for (const direction d : both_ways) {
    const std::size_t bytes = bytes_of(proxy, d, [&] { step(0); });
    for (std::size_t index = 0; index <= bytes + 8; ++index) {
      proxy.cut_after(d, index);
      step(index);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(test::counters_of(*beside),
            (std::map<std::string, std::int64_t>{{"all", 3 * all}, {"ours", 2 * all}, {"theirs", all}}));
  EXPECT_EQ(test::keys_in(*client()), static_cast<std::uint64_t>(3 * all));
}

TEST_F(JournalCut, CheckpointIsCompleteWhereverItsConnectionIsCut) {
  cutting_proxy proxy(server_.port());
  const auto begin_and_write = [&](const std::function<void()>& cut) {
    const auto beside = make({.capacity = 140'000, .error_rate = 1e-8, .partitions = 1});
    const auto keys = fill_to_the_brink(*beside, random_);
    const auto writer = client_by(proxy);
    answered(check_keys(*writer, std::span(keys).first(1)));
    const auto last = random_.take(100);
    cut();
    const auto got = add_keys(*writer, last);
    ASSERT_TRUE(got.result) << got.result.error().message;
    ASSERT_EQ(journal_bytes(), 0u) << "there is a checkpoint";
    const auto newcomer = client();
    ASSERT_EQ(fresh_in(check_keys(*newcomer, keys)), 0u);
    ASSERT_EQ(fresh_in(check_keys(*newcomer, last)), 0u);
    ASSERT_EQ(newcomer->state(0), writer->state(0));
    store_->drop("clicks");
    ASSERT_EQ(lasting_keys_like(server_, "*").size(), 0u);
  };
  for (const direction d : both_ways) {
    std::size_t before = 0;
    begin_and_write([&] { before = proxy.passed(d); });
    const std::size_t bytes = proxy.passed(d) - before;
    // Dense where commands begin and end, sparse within the pages.
    for (std::size_t offset = 0; offset < bytes;
         offset += offset < 3500 || offset + 1000 > bytes ? 97 : 39'989) {
      SCOPED_TRACE(std::to_string(offset) + " of " + std::to_string(bytes));
      begin_and_write([&] { proxy.cut_after(d, offset); });
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(JournalCut, LoadIsCompleteWhereverItsConnectionIsCut) {
  const auto beside = make({.capacity = 140'000, .error_rate = 1e-8, .partitions = 1});
  auto keys = fill_to_the_brink(*beside, random_);
  for (const std::size_t n : {100u, 50u}) {
    const auto more = random_.take(n);
    answered(add_keys(*beside, more));
    keys.insert(keys.end(), more.begin(), more.end());
  }
  ASSERT_GT(journal_bytes(), 0u);
  cutting_proxy proxy(server_.port());
  for (const direction d : both_ways) {
    std::size_t bytes = 0;
    for (std::size_t offset = 0; offset <= bytes; offset += offset < 900 ? 13 : 29'989) {
      const auto newcomer = client_by(proxy);
      const std::size_t before = proxy.passed(d);
      if (bytes > 0) proxy.cut_after(d, offset);
      ASSERT_EQ(fresh_in(check_keys(*newcomer, keys)), 0u) << offset;
      ASSERT_EQ(newcomer->state(0), beside->state(0)) << offset;
      if (bytes == 0) bytes = proxy.passed(d) - before;
    }
  }
}

}  // namespace
}  // namespace everseen::redis
