// The journal of a job in files: its readable prefix after a cut at any byte, and how it is rewritten.

#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/store/file/file_store.hpp"
#include "everseen/store/job_log/job_log.hpp"

#include "test/support/claimed_events.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using test::claim_events;
using test::event;
using test::new_events;
using test::text_of;
using testing::HasSubstr;
namespace fs = std::filesystem;

class FileJob : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return scratch_.path() / name; }
  fs::path journal() const { return at("store/a/jobs/count"); }
  file_store store() const { return file_store(at("store"), sync_policy::never); }
  std::shared_ptr<stored_filter> open() const { return store().open("a", access::write); }
  void claim(std::span<const event> events, std::uint64_t settled = 0) const {
    const auto filter = open();
    (void)claim_events(*filter->open_ledger("count", "d"), spec_, {"lane", settled}, events);
  }
  std::string replay(std::span<const event> events) const {
    const auto filter = open();
    return text_of(claim_events(*filter->open_ledger("count", ""), spec_, {"lane", 0}, events).verdicts);
  }
  std::string journal_bytes() const {
    std::ifstream in(journal(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string message_of_open() const {
    try {
      (void)open();
    } catch (const format_error& e) {
      return e.what();
    }
    return "none";
  }
  void copy(const std::string& from, const std::string& target) const {
    fs::remove_all(at(target));
    fs::copy(at(from), at(target), fs::copy_options::recursive);
  }

  test::scratch_directory scratch_;
  test::random_digests keys_{5};
  spec spec_ = make_spec({.capacity = 200, .error_rate = 1e-12, .seed = hash_seed{}, .partitions = 1});
};

/// Unchanged except for the lengths in its head.
std::string saying(std::string journal, const job_log::lengths& l) {
  const auto both = job_log::encode(l);
  return journal.replace(job_log::lengths_at, both.size(), both.data(), both.size());
}

TEST_F(FileJob, JournalCutInAnUnacknowledgedRecordLosesAndDoublesNothing) {
  (void)store().create("a", spec_);
  const auto events = new_events(keys_, 0, 9);
  claim(std::span(events).first(4));
  (void)open();  // rewrites it, as the next claim does
  copy("store", "before");
  const auto before = fs::file_size(journal());
  claim(events);
  const std::string bytes = journal_bytes();
  ASSERT_GT(bytes.size(), before);
  // Crashed during the append, or right after it and before the acknowledgement: no key of the record was
  // added yet.
  for (std::size_t size = before; size <= bytes.size(); ++size) {
    copy("before", "store");
    std::ofstream(journal(), std::ios::binary) << saying(bytes, {before, before}).substr(0, size);
    EXPECT_EQ(replay(events), "000000000") << size;
    EXPECT_EQ(open()->state(0).keys(), 9u) << size;
  }
}

TEST_F(FileJob, JournalThatLacksAcknowledgedRecordsIsAnErrorWithAdvice) {
  (void)store().create("a", spec_);
  claim(new_events(keys_, 0, 9));
  const std::string bytes = journal_bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::ofstream(journal(), std::ios::binary) << bytes.substr(0, size);
    EXPECT_THAT(message_of_open(),
                testing::AllOf(HasSubstr(journal().string()), HasSubstr("everseen jobs a --end count")))
        << size;
  }
  fs::remove(journal());
  EXPECT_THAT(message_of_open(), HasSubstr(journal().string() + " is missing"));
}

TEST_F(FileJob, JournalWithOneLengthNewerThanTheOtherLosesAndDoublesNothing) {
  (void)store().create("a", spec_);
  const auto events = new_events(keys_, 0, 9);
  claim(std::span(events).first(4));
  (void)open();
  copy("store", "before");
  const auto before = fs::file_size(journal());
  claim(events);
  const std::string bytes = journal_bytes();
  const std::size_t after = bytes.size();
  for (const job_log::lengths& l : {job_log::lengths{before, after}, {after, before}}) {
    copy("before", "store");
    std::ofstream(journal(), std::ios::binary) << saying(bytes, l);
    EXPECT_EQ(replay(events), "000000000") << l.acknowledged << " acknowledged, " << l.synced << " synced";
    EXPECT_EQ(open()->state(0).keys(), 9u);
    std::ofstream(journal(), std::ios::binary) << saying(bytes, l).substr(0, after - 1);
    EXPECT_THAT(message_of_open(), HasSubstr(std::to_string(after) + " bytes that were acknowledged"));
  }
}

// Promise: ending a job whose journal is damaged keeps the filter (files, Damage).
TEST_F(FileJob, DamagedJournalBlocksTheFilterUntilItsJobIsEnded) {
  (void)store().create("a", spec_);
  const auto events = new_events(keys_, 0, 9);
  claim(events);
  (void)open()->open_ledger("another", "");
  fs::resize_file(journal(), fs::file_size(journal()) - 1);
  EXPECT_THROW((void)open(), format_error);
  EXPECT_THROW(store().end_job("a", "another"), format_error) << "this one is undamaged";
  EXPECT_THROW(store().end_job("a", "none"), format_error);
  store().end_job("a", "count");
  EXPECT_FALSE(fs::exists(journal()));
  EXPECT_EQ(store().jobs("a"), std::vector<std::string>{"another"});
  EXPECT_EQ(open()->state(0).keys(), 9u) << "the keys stay";
}

// Promise: a journal of another filter or job is refused (files, Damage).
TEST_F(FileJob, JournalOfAnotherFilterOrJobIsRefused) {
  for (const char* name : {"a", "b"}) {
    (void)store().create(name, spec_);
    (void)store().open(name, access::write)->open_ledger("count", name);
  }
  (void)open()->open_ledger("another", "");
  copy("store", "before");
  fs::copy_file(at("store/b/jobs/count"), journal(), fs::copy_options::overwrite_existing);
  EXPECT_THAT(message_of_open(), HasSubstr("another filter"));
  fs::copy_file(at("store/a/jobs/another"), journal(), fs::copy_options::overwrite_existing);
  EXPECT_THAT(message_of_open(), HasSubstr("that of the job 'another'"));
}

TEST_F(FileJob, JournalIsRewrittenBeforeItIsLong) {
  (void)store().create("a", spec_ = make_spec({.capacity = 400'000, .error_rate = 1e-3, .partitions = 1}));
  const auto filter = open();
  const auto job = filter->open_ledger("count", "d");
  std::uint64_t most = 0;
  for (std::uint64_t next = 0; next < 400'000; next += 10'000) {
    const auto events = new_events(keys_, next, 10'000);
    ASSERT_TRUE(claim_events(*job, spec_, {"lane", next}, events).result);
    job->settle(std::vector<checkpoint>{{"lane", next + 10'000, std::to_string(next)}});
    most = std::max<std::uint64_t>(most, fs::file_size(journal()));
  }
  EXPECT_GT(most, 1'000'000u);
  EXPECT_LT(most, 1'400'000u);
  EXPECT_EQ(job->checkpoints().at("lane").note, "390000");
}

TEST_F(FileJob, DamageIsDescribed) {
  (void)store().create("a", spec_);
  claim(new_events(keys_, 0, 3));
  const std::string bytes = journal_bytes();
  const auto message_with = [&](std::size_t place, char byte) {
    std::string changed = bytes;
    changed[place] = byte;
    std::ofstream(journal(), std::ios::binary) << changed;
    return message_of_open();
  };
  EXPECT_THAT(message_with(8, 1), HasSubstr("of version 1, and this everseen reads only version 2"));
  EXPECT_THAT(message_with(72, 'x'), HasSubstr("damaged head"));
  EXPECT_THAT(message_with(0, 'x'), HasSubstr("does not begin as one"));
  EXPECT_THAT(message_with(bytes.size() - 1, static_cast<char>(bytes.back() ^ 1)),
              HasSubstr("were acknowledged, and is damaged behind byte"));
  EXPECT_EQ(message_with(0, 'E'), "none");
}

// Promise: records of a journal in another order are damage (files, Damage).
TEST_F(FileJob, RecordsInAnotherOrderAreDamage) {
  (void)store().create("a", spec_);
  const auto events = new_events(keys_, 0, 9);
  std::vector<std::size_t> ends;
  {
    const auto filter = open();
    const auto job = filter->open_ledger("count", "d");
    for (const std::uint64_t first : {0, 3, 6}) {
      (void)claim_events(*job, spec_, {"lane", 0}, std::span(events).subspan(first, 3));
      ends.push_back(fs::file_size(journal()));
    }
  }
  std::string bytes = journal_bytes();
  const std::size_t length = ends[1] - ends[0];
  ASSERT_EQ(ends[2] - ends[1], length);
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(ends[0]),
                   bytes.begin() + static_cast<std::ptrdiff_t>(ends[1]),
                   bytes.begin() + static_cast<std::ptrdiff_t>(ends[1]));
  std::ofstream(journal(), std::ios::binary) << bytes;
  EXPECT_THAT(message_of_open(), HasSubstr("damaged behind byte " + std::to_string(ends[0])));
}

TEST_F(FileJob, DropRemovesJournals) {
  (void)store().create("a", spec_);
  claim(new_events(keys_, 0, 3));
  EXPECT_TRUE(fs::exists(journal()));
  store().drop("a");
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(at("store"))) left.push_back(entry.path().filename());
  EXPECT_THAT(left, testing::ElementsAre(".lock"));
}

}  // namespace
}  // namespace everseen
