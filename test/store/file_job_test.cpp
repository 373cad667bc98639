// The journal of a job in files: what is left of it at every byte, and what it becomes.

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/store/file_store.hpp"

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
  void copy(const std::string& from, const std::string& to) const {
    fs::remove_all(at(to));
    fs::copy(at(from), at(to), fs::copy_options::recursive);
  }

  test::scratch_directory scratch_;
  test::random_digests keys_{5};
  spec spec_ = make_spec({.capacity = 200, .error_rate = 1e-12, .seed = hash_seed{}, .partitions = 1});
};

TEST_F(FileJob, AJournalThatEndsAnywhereInItsLastRecordLosesAndDoublesNothing) {
  (void)store().create("a", spec_);
  const auto events = new_events(keys_, 0, 9);
  claim(std::span(events).first(4));
  copy("store", "before");
  claim(std::span(events).first(9));
  const auto whole = fs::file_size(journal());
  std::ifstream in(journal(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const auto before = fs::file_size(at("before/a/jobs/count"));
  ASSERT_GT(whole, before);
  // Died while it appended: no key of the last record was added yet. Or just behind: none was, but it is
  // whole.
  for (std::size_t size = before; size <= whole; ++size) {
    copy("before", "store");
    std::ofstream(journal(), std::ios::binary) << bytes.substr(0, size);
    EXPECT_EQ(replay(events), "000000000") << size;
    EXPECT_EQ(open()->state(0).keys(), 9u) << size;
  }
}

TEST_F(FileJob, AJournalIsWrittenAnewBeforeItIsLong) {
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

TEST_F(FileJob, DamageIsToldFromWhatWasCutOff) {
  (void)store().create("a", spec_);
  claim(new_events(keys_, 0, 3));
  const auto overwrite = [&](std::size_t at_byte, char byte) {
    std::fstream(journal(), std::ios::binary | std::ios::in | std::ios::out)
        .seekp(static_cast<long>(at_byte))
        .put(byte);
  };
  const auto message = [&]() -> std::string {
    try {
      (void)open();
    } catch (const format_error& e) {
      return e.what();
    }
    return "none";
  };
  overwrite(8, 2);
  EXPECT_THAT(message(), HasSubstr("version 2"));
  overwrite(8, 1);
  overwrite(16, 'x');
  EXPECT_THAT(message(), HasSubstr("damaged head"));
  overwrite(16, 'd');
  overwrite(0, 'x');
  EXPECT_THAT(message(), HasSubstr("does not begin as one"));
  overwrite(0, 'E');
  EXPECT_EQ(message(), "none");
}

TEST_F(FileJob, DamageInTheMiddleIsAnErrorAndNotTheEnd) {
  (void)store().create("a", spec_);
  const auto events = new_events(keys_, 0, 9);
  claim(std::span(events).first(4));
  (void)open();  // writes it anew, as does who claims next
  const auto first = fs::file_size(journal());
  claim(events);
  std::ifstream in(journal(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const std::size_t head = 16 + 1 + 8;
  for (std::size_t at = head; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    std::ofstream(journal(), std::ios::binary) << flipped;
    if (at < first)
      EXPECT_THROW((void)open(), format_error) << at;
    else
      EXPECT_NO_THROW((void)open()) << at;
  }
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
