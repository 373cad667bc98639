// Filters that their clients judge: long records that are lost or damaged give an error that names the key,
// never a wrong verdict.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"

#include "test/redis/journal/judged_by_clients.hpp"

namespace everseen::redis {
namespace {

using test::add_keys;
using test::check_keys;
using test::random_digests;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class DamagedLongRecord : public JudgedByClients {
 protected:
  DamagedLongRecord() {
    for (const std::size_t n : {5ul, many, 6ul, many, many}) {
      const auto more = random_.take(n);
      answered(add_keys(*filter_, more));
      keys_.insert(keys_.end(), more.begin(), more.end());
    }
  }
  void expect_damage(const stored_filter& filter) {
    const auto told = failure_of_check(filter, std::span(keys_).first(10));
    ASSERT_TRUE(told);
    EXPECT_EQ(told->why, batch_failure::cause::format);
    EXPECT_THAT(told->message, AllOf(HasSubstr(state_key()), Not(HasSubstr("but a key"))));
  }
  /// For a new client, and for one that knew the filter before the damage.
  void expect_damage() {
    expect_damage(*client());
    expect_damage(*behind_);
  }

  random_digests random_{96};
  std::vector<digest> keys_;
  std::shared_ptr<stored_filter> filter_ = make({.capacity = 100'000, .error_rate = 1e-9, .partitions = 1});
  std::shared_ptr<stored_filter> behind_ = [this] {
    auto early = client();
    answered(check_keys(*early, random_digests(1).take(1)));
    return early;
  }();
};

TEST_F(DamagedLongRecord, MissingRecord) {
  for (std::uint64_t n = 0; n < 4; ++n) {
    SCOPED_TRACE(n);
    (void)server_.run({"RENAME", chunk(n), "kept"});
    expect_damage();
    (void)server_.run({"RENAME", "kept", chunk(n)});
  }
  EXPECT_EQ(fresh_in(check_keys(*client(), keys_)), 0u);
}

TEST_F(DamagedLongRecord, CutRecord) {
  for (std::uint64_t n = 0; n < 4; ++n) {
    SCOPED_TRACE(n);
    const std::string whole = server_.run({"GETRANGE", chunk(n), "0", "-1"});
    for (const std::size_t less : {2ul, 50ul, whole.size() - 1}) {
      (void)server_.run({"SET", chunk(n), whole.substr(0, whole.size() - less)});
      expect_damage();
    }
    (void)server_.run({"SET", chunk(n), whole});
  }
  EXPECT_EQ(fresh_in(check_keys(*client(), keys_)), 0u);
}

TEST_F(DamagedLongRecord, RecordWithoutItsEndMark) {
  for (std::uint64_t n = 0; n < 3; ++n) {
    SCOPED_TRACE(n);
    const std::string whole = server_.run({"GETRANGE", chunk(n), "0", "-1"});
    (void)server_.run({"SET", chunk(n), whole.substr(0, whole.size() - 1)});
    expect_damage();
    (void)server_.run({"SET", chunk(n), whole.substr(0, whole.size() - 1) + "x"});
    expect_damage();
    (void)server_.run({"SET", chunk(n), whole});
  }
  EXPECT_EQ(fresh_in(check_keys(*client(), keys_)), 0u);
}

TEST_F(DamagedLongRecord, RecordWithForeignBytesOrThoseOfAnother) {
  const std::string second = server_.run({"GETRANGE", chunk(2), "0", "-1"});
  (void)server_.run({"SETRANGE", chunk(2), "4000", "foreign"});
  expect_damage();
  (void)server_.run({"SET", chunk(2), server_.run({"GETRANGE", chunk(3), "0", "-1"})});
  expect_damage();
  (void)server_.run({"SET", chunk(2), second});
  EXPECT_EQ(fresh_in(check_keys(*client(), keys_)), 0u);
}

TEST_F(DamagedLongRecord, MarkInPlaceOfARecordIsNotSkipped) {
  (void)server_.run({"SET", chunk(2), std::string(1, next_chunk_mark)});
  expect_damage();
  (void)server_.run({"SETRANGE", chunk(1), "0", std::string(1, next_chunk_mark)});
  expect_damage();
}

TEST_F(DamagedLongRecord, IsReportedToClientsThatAddAfterIt) {
  (void)server_.run({"DEL", chunk(3)});
  for (const std::size_t n : {5ul, many}) {
    const auto told = failure_of_add(*filter_, random_.take(n));
    ASSERT_TRUE(told) << n;
    EXPECT_THAT(told->message, AllOf(HasSubstr(state_key()), Not(HasSubstr("but a key"))));
  }
  EXPECT_THAT(keys_like(server_, "everseen:{*/0}:s*"), IsEmpty());
}

}  // namespace
}  // namespace everseen::redis
