// What happens to a filter in files while a process waits for its writer, as --wait does, and what the
// waiting process then makes of it.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/store/file/file_store.hpp"

#include "test/support/random_digests.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;
using namespace test;

/// Runs something at the first attempt that finds another writer.
class meanwhile final : public retry_policy {
 public:
  explicit meanwhile(std::function<void()> happens) : happens_(std::move(happens)) {}
  bool tries_again(const outage& /*now*/) override {
    if (!has_waited) happens_();
    return has_waited = true;
  }
  void on_recovered() override {}
  bool has_waited = false;

 private:
  std::function<void()> happens_;
};

class at_each_attempt final : public retry_policy {
 public:
  explicit at_each_attempt(std::function<void()> happens) : happens_(std::move(happens)) {}
  bool tries_again(const outage& /*now*/) override {
    happens_();
    return true;
  }
  void on_recovered() override {}

 private:
  std::function<void()> happens_;
};

class FileWaiting : public ::testing::Test {
 protected:
  static constexpr auto refuse = store::namesake::refuse;
  static constexpr auto replace = store::namesake::replace;
  static spec small() { return make_spec({.capacity = 100, .error_rate = 1e-12, .seed = hash_seed{}}); }

  /// The holder of `name` closes it as soon as `waiting_` waits for it; then `happens` is done.
  void when_waited_for(const std::string& name, std::function<void()> happens) {
    policy_ = std::make_shared<meanwhile>([this, happens = std::move(happens)] {
      holder_.reset();
      happens();
    });
    waiting_.wait_with(policy_);
    if (!others_.exists(name)) (void)others_.create(name, small(), 1s);
    holder_ = others_.open(name, access::write);
  }
  void make(const std::string& name) { answered(add_keys(*others_.create(name, small()), keys_)); }
  void expect_waited() const { EXPECT_TRUE(policy_->has_waited); }
  void expect_keys(const std::string& name) {
    expect_waited();
    EXPECT_EQ(tally_of(check_keys(*others_.open(name, access::read), keys_)).seen, keys_.size());
  }

  scratch_directory scratch_;
  event_time time_{1'700'000'000s};
  const std::vector<digest> keys_ = random_digests(1).take(10);
  file_store others_{scratch_.path(), sync_policy::never, disk::real(), [this] { return time_; }};
  std::shared_ptr<stored_filter> holder_;
  file_store waiting_{scratch_.path(), sync_policy::never, disk::real(), [this] { return time_; }};
  std::shared_ptr<meanwhile> policy_;
};

// Promise: a filter that was created during a wait for its expired namesake stays (files, Readers and
// writers).
TEST_F(FileWaiting, KeepsTheFilterCreatedWhileTheExpiredOneWasInUse) {
  make("other");
  const std::function<void()> takers[] = {
      [&] { (void)waiting_.create("x", small()); },
      [&] { (void)waiting_.begin_restore("x", small()); },
      [&] { waiting_.rename("other", "x", refuse); },
  };
  for (const auto& take : takers) {
    when_waited_for("x", [&] { make("x"); });
    time_ += 1s;
    EXPECT_THROW(take(), name_taken);
    expect_keys("x");
    others_.drop("x");
  }
}

TEST_F(FileWaiting, RemovesTheExpiredFilterAfterwards) {
  when_waited_for("x", [] {});
  time_ += 1s;
  (void)waiting_.create("x", small());
  expect_waited();
  EXPECT_TRUE(others_.exists("x"));
}

TEST_F(FileWaiting, CreatesTheFilterIfAnotherProcessRemovedTheExpiredOne) {
  when_waited_for("x", [&] { others_.remove_expired(); });
  time_ += 1s;
  (void)waiting_.create("x", small());
  expect_waited();
  EXPECT_TRUE(others_.exists("x"));
}

// Promise: rename without --replace replaces no filter that was created while it waited (files, Readers and
// writers).
TEST_F(FileWaiting, RenameReplacesNoFilterCreatedMeanwhile) {
  for (const auto& [from, target] : {std::pair("a", "b"), std::pair("d", "c")}) {
    when_waited_for(from, [&, target = target] { make(target); });
    EXPECT_THROW(waiting_.rename(from, target, refuse), name_taken);
    expect_keys(target);
    EXPECT_TRUE(others_.exists(from));
  }
}

TEST_F(FileWaiting, RenameOntoATakenNameDoesNotWait) {
  for (const auto& [from, target] : {std::pair("a", "b"), std::pair("d", "c")}) {
    make(target);
    when_waited_for(from, [] {});
    EXPECT_THROW(waiting_.rename(from, target, refuse), name_taken);
    EXPECT_FALSE(policy_->has_waited);
    holder_.reset();
  }
}

TEST_F(FileWaiting, RenameHoldsNeitherFilterWhileItWaitsForTheOther) {
  make("d");
  std::shared_ptr<stored_filter> holder_of_c;
  int waits = 0;
  waiting_.wait_with(std::make_shared<at_each_attempt>([&] {
    if (++waits == 1) {
      holder_.reset();
      make("c");
      holder_of_c = others_.open("c", access::write);
    } else {
      EXPECT_NO_THROW((void)others_.open("d", access::write)) << "another rename could wait for it for ever";
      holder_of_c.reset();
    }
  }));
  holder_ = others_.open("d", access::write);
  waiting_.rename("d", "c", replace);
  EXPECT_EQ(waits, 2);
  EXPECT_FALSE(others_.exists("d"));
}

TEST_F(FileWaiting, RenameReplacesAFilterCreatedMeanwhileIfAsked) {
  for (const auto& [from, target] : {std::pair("a", "b"), std::pair("d", "c")}) {
    make(from);
    when_waited_for(from, [&, target = target] { (void)others_.create(target, small()); });
    waiting_.rename(from, target, replace);
    expect_keys(target);
    EXPECT_FALSE(others_.exists(from));
  }
}

// Promise: a filter is asked that was linked while its newer one waited for another writer (foreign-filters,
// Linked filters).
TEST_F(FileWaiting, OpenAsksTheFilterLinkedMeanwhile) {
  make("old");
  when_waited_for("new", [&] { others_.link("old", "new", {}); });
  const auto opened = waiting_.open("new", access::write);
  expect_waited();
  EXPECT_EQ(opened->path().asks_first, predecessor{"old"});
}

TEST_F(FileWaiting, ExpiredFilterWhoseOlderOneIsGoneHasExpired) {
  make("old");
  (void)others_.create("new", small(), 1s);
  others_.link("old", "new", {});
  time_ += 1s;
  others_.drop("old");
  EXPECT_THROW((void)others_.open("new", access::read), filter_expired);
  EXPECT_THROW((void)others_.open("new", access::write), filter_expired);
}

TEST_F(FileWaiting, FilterThatExpiresMeanwhileIsAnErrorThatSaysSo) {
  const std::function<void()> uses[] = {
      [&] { (void)waiting_.open("x", access::write); },
      [&] { waiting_.drop("x"); },
      [&] { waiting_.reset("x"); },
      [&] { waiting_.rename("x", "y", refuse); },
      [&] { waiting_.expire_at("x", {}); },
  };
  for (const auto& use : uses) {
    when_waited_for("x", [&] { time_ += 1s; });
    EXPECT_THROW(use(), filter_expired);
    expect_waited();
    EXPECT_FALSE(others_.exists("y"));
    others_.remove_expired();
  }
}

}  // namespace
}  // namespace everseen
