// Links between filters in files: durability, expiry and damage.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/store/file/file_store.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/support/model/forgetful_disk.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/thrown_message.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

spec linked_spec() {
  return make_spec({.capacity = 100, .seed = hash_seed{}, .partitions = 1});
}

/// Two filters, `old` and `new`, and a clock that the test sets.
class FileLinks : public ::testing::Test {
 protected:
  FileLinks() {
    (void)store_.create("old", linked_spec());
    (void)store_.create("new", linked_spec());
  }
  [[nodiscard]] std::optional<predecessor> asked_by_new() {
    return store_.open("new", access::read)->path().asks_first;
  }
  void write_record(const std::string& content) const {
    std::ofstream(record_, std::ios::binary | std::ios::trunc) << content;
  }
  void write_record(const predecessor& older) const {
    const auto bytes = image::encode_link(older);
    write_record(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

  scratch_directory scratch_;
  event_time time_{1'700'000'000s};
  file_store store_{scratch_.path(), sync_policy::never, disk::real(), [this] { return time_; }};
  fs::path record_ = scratch_.path() / "new" / "link";
};

// Promise: a link ends at its time, also in a filter that is open (foreign-filters, Linked filters).
TEST_F(FileLinks, EndAtTheirTimeAlsoInAnOpenFilter) {
  store_.link("old", "new", 1h);
  const auto open = store_.open("new", access::write);
  EXPECT_EQ(open->path().asks_first, (predecessor{"old", time_ + 1h}));
  time_ += 1h - 1ms;
  EXPECT_TRUE(open->path().asks_first);
  EXPECT_THAT(message_of<parameter_error>([&] { store_.drop("old"); }), HasSubstr("link --off new"));
  time_ += 1ms;
  EXPECT_FALSE(open->path().asks_first);
  EXPECT_FALSE(asked_by_new());
  store_.drop("old");
}

TEST_F(FileLinks, EndAtTheirTimeInMemoryToo) {
  memory_store in_memory([this] { return time_; });
  (void)in_memory.create("old", linked_spec());
  (void)in_memory.create("new", linked_spec());
  in_memory.link("old", "new", 1h);
  const auto open = in_memory.open("new", access::write);
  EXPECT_TRUE(open->path().asks_first);
  time_ += 1h;
  EXPECT_FALSE(open->path().asks_first);
  EXPECT_FALSE(in_memory.open("new", access::write)->path().asks_first);
  in_memory.drop("old");
}

TEST_F(FileLinks, TimeToLivePastTheEndOfTimeHasNoEnd) {
  store_.link("old", "new", std::chrono::milliseconds::max());
  EXPECT_EQ(asked_by_new(), predecessor{"old"});
}

TEST_F(FileLinks, SurviveARebuildOfTheNewer) {
  store_.link("old", "new", 1h);
  store_.begin_rebuild("new", linked_spec(), {})->commit();
  EXPECT_EQ(asked_by_new(), (predecessor{"old", time_ + 1h}));
}

// Promise: an older filter that is gone is an error that names it (foreign-filters, Linked filters).
TEST_F(FileLinks, MissingOlderFilterIsAnErrorThatNamesBoth) {
  store_.link("old", "new", {});
  fs::remove_all(scratch_.path() / "old");
  for (const access mode : {access::read, access::write})
    EXPECT_THAT(message_of<storage_error>([&] { (void)store_.open("new", mode); }),
                AllOf(HasSubstr("'new' asks 'old' first"), HasSubstr("link --off new")));
  store_.unlink("new");
  EXPECT_FALSE(asked_by_new());
}

TEST_F(FileLinks, DamagedRecordIsRefusedAndCanBeRemoved) {
  store_.link("old", "new", {});
  std::string record;
  {
    std::ifstream in(record_, std::ios::binary);
    record.assign(std::istreambuf_iterator<char>(in), {});
  }
  ASSERT_EQ(record.size(), 35u);
  const auto refusal = [&] {
    return message_of<format_error>([&] { (void)store_.open("new", access::read); });
  };
  for (std::size_t offset = 0; offset < record.size(); ++offset) {
    std::string bad = record;
    bad[offset] = static_cast<char>(bad[offset] ^ 1);
    write_record(bad);
    EXPECT_THAT(refusal(), AllOf(HasSubstr(record_.string()), HasSubstr("link --off new"))) << offset;
  }
  for (std::size_t length = 0; length < record.size(); ++length) {
    write_record(record.substr(0, length));
    EXPECT_THAT(refusal(), HasSubstr("link --off new")) << length;
  }
  write_record(record + std::string(1'000, 'x'));
  EXPECT_THAT(refusal(), HasSubstr("link --off new"));
  EXPECT_THAT(message_of<format_error>([&] { store_.link("old", "new", {}); }), HasSubstr("link --off new"));
  store_.unlink("new");
  EXPECT_FALSE(asked_by_new());
}

TEST_F(FileLinks, RecordThatNamesNoFilterOfTheStoreIsRefused) {
  for (const char* name : {"../old", ".new", "new"}) {
    write_record(predecessor{name});
    EXPECT_THAT(message_of<error>([&] { (void)store_.open("new", access::read); }),
                HasSubstr("link --off new"))
        << name;
  }
}

TEST_F(FileLinks, RecordsInACycleAreFollowedForOneStep) {
  store_.link("old", "new", {});
  fs::copy_file(record_, scratch_.path() / "old" / "link", fs::copy_options::overwrite_existing);
  write_record(predecessor{"old"});
  EXPECT_EQ(asked_by_new(), predecessor{"old"});
}

// Promise: in files a link is made while nobody writes to the newer filter, and ended at any time
// (foreign-filters, Linked filters).
TEST_F(FileLinks, NeedANewerFilterWithoutAWriterAndEndAtAnyTime) {
  const auto older = store_.open("old", access::write);
  auto newer = store_.open("new", access::write);
  EXPECT_THAT(message_of<storage_error>([&] { store_.link("old", "new", {}); }),
              AllOf(HasSubstr("is writing to"), HasSubstr("new")));
  EXPECT_FALSE(asked_by_new());
  newer.reset();
  store_.link("old", "new", {});
  newer = store_.open("new", access::write);
  EXPECT_TRUE(newer->path().asks_first);
  store_.unlink("new");
  EXPECT_TRUE(newer->path().asks_first) << "it continues as it began";
  EXPECT_FALSE(asked_by_new());
}

TEST_F(FileLinks, ExcludeAJobThatHasNotBegun) {
  auto idle = store_.open("new", access::write);
  ASSERT_EQ(idle->open_ledger("job", std::nullopt), nullptr);
  EXPECT_THROW(store_.link("old", "new", {}), storage_error);
  EXPECT_TRUE(idle->open_ledger("job", "described"));
  idle.reset();
  EXPECT_THAT(message_of<parameter_error>([&] { store_.link("old", "new", {}); }), HasSubstr("has jobs"));
  EXPECT_TRUE(store_.open("new", access::write)->open_ledger("job", std::nullopt));
}

/// Links, changes the end and unlinks; returns the last acknowledged state.
std::string linked_life(file_store& filters) {
  std::string last = "none";
  try {
    for (const char* name : {"old", "new"}) (void)filters.create(name, linked_spec());
    last = "made";
    filters.link("old", "new", {});
    last = "linked";
    filters.begin_rebuild("new", linked_spec(), {})->commit();
    filters.link("old", "new", 1h);
    last = "linked for an hour";
    filters.unlink("new");
    last = "unlinked";
  } catch (const error&) {
    // the disk is gone
  }
  return last;
}

// Promise: a power loss leaves the link as it was or as it was to be (foreign-filters, Linked filters).
TEST(FileLinksPowerLoss, AtAnyMomentLeavesTheLinkThatWasAcknowledgedLastOrTheNext) {
  const time_source noon = [] { return event_time(1'700'000'000s); };
  for (std::uint64_t cut = 0;; ++cut) {
    const scratch_directory scratch;
    forgetful_disk on;
    on.cut_power(cut);
    file_store filters(scratch.path(), sync_policy::always, on, noon);
    const std::string last = linked_life(filters);
    for (unsigned luck = 0; luck < 4 && last != "none"; ++luck) {
      const scratch_directory found;
      on.after_power_loss(scratch.path(), found.path(), luck);
      file_store after(found.path(), sync_policy::never, disk::real(), noon);
      std::optional<predecessor> asked;
      ASSERT_NO_THROW(asked = after.open("new", access::write)->path().asks_first)
          << cut << ", luck " << luck;
      if (last == "linked") {
        EXPECT_TRUE(asked) << cut << ", luck " << luck;
      }
      if (last == "linked for an hour" && asked) {
        EXPECT_EQ(asked->until, noon() + 1h) << cut << ", luck " << luck;
      }
      if (last == "unlinked") {
        EXPECT_FALSE(asked) << cut << ", luck " << luck;
      }
    }
    if (!on.has_failed()) {
      EXPECT_EQ(last, "unlinked");
      return;
    }
  }
}

}  // namespace
}  // namespace everseen
