// Applies every cut, every flipped byte and every deletion of a file to a small store whose filters have a
// job, an end and a link. Opening it must name the damaged file or lose nothing.

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/store/file/file_store.hpp"

#include "test/support/claimed_events.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/stored_keys.hpp"

namespace everseen {
namespace {

using namespace test;
using namespace std::chrono_literals;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// Like the real disk, without waiting: there is no power loss here.
class quick_disk final : public disk {
 public:
  int sync_file(int /*file*/, const fs::path& /*path*/) override { return 0; }
  int sync_mapping(std::byte* /*at*/, std::size_t /*bytes*/, const fs::path& /*path*/) override { return 0; }
  int sync_directory(const fs::path& /*path*/) override { return 0; }
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// Bits that change with every key have no checksum: doc/files.md, "Damage".
bool is_segment(const fs::path& file) {
  return file.parent_path().filename() == "segments";
}

class FileDamage : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::uint64_t all_events = 24;

  FileDamage() : events_(new_events(keys_, 0, all_events)) {
    make_job();
    make_link();
    if (GetParam() == std::string("killed")) crash_in_the_middle();
    for (const auto& entry : fs::recursive_directory_iterator(sound()))
      if (entry.is_regular_file()) files_.push_back(fs::relative(entry.path(), sound()));
    std::ranges::sort(files_);
    fs::copy(sound(), damaged(), fs::copy_options::recursive);
  }

  [[nodiscard]] fs::path sound() const { return scratch_.path() / "sound"; }
  [[nodiscard]] fs::path damaged() const { return scratch_.path() / "damaged"; }
  [[nodiscard]] file_store store_in(const fs::path& where) {
    return file_store(where, sync_policy::never, disk_, [this] { return time_; });
  }

  void make_job() {
    auto store = store_in(sound());
    const auto filter = store.create("f", spec_, 24h);
    const auto job = filter->open_ledger("count", "what it counts");
    const auto claim = [&](std::size_t from, std::size_t n, std::uint64_t settled) {
      ASSERT_TRUE(claim_events(*job, spec_, {"lane", settled}, std::span(events_).subspan(from, n)).result);
    };
    claim(0, 8, 0);
    job->settle(std::vector<checkpoint>{{"lane", 8, "note"}});
    claim(8, 6, 8);
    claim(14, 6, 8);
    job->settle(std::vector<checkpoint>{{"lane", 14, "another note"}});
    claim(20, 4, 14);
    if (GetParam() == std::string("killed")) fs::copy(sound(), dead(), fs::copy_options::recursive);
  }
  void make_link() {
    auto store = store_in(sound());
    ASSERT_TRUE(add_keys(*store.create("old", spec_), random_digests(8).take(10)).result);
    (void)store.create("new", spec_);
    store.link("old", "new", {});
  }
  /// The state that a process leaves without closing the filter with the job.
  void crash_in_the_middle() {
    fs::remove_all(sound() / "f");
    fs::copy(dead() / "f", sound() / "f", fs::copy_options::recursive);
  }
  [[nodiscard]] fs::path dead() const { return scratch_.path() / "dead"; }

  /// Everything acknowledged is present.
  void expect_nothing_lost(const std::string& problem) {
    auto store = store_in(damaged());
    EXPECT_EQ(store.jobs("f"), std::vector<std::string>{"count"}) << problem;
    EXPECT_EQ(store.facts("f").expires_at, time_ + 24h) << problem;
    const auto filter = store.open("f", access::write);
    const auto job = filter->open_ledger("count", "");
    EXPECT_EQ(job->description(), "what it counts") << problem;
    ASSERT_EQ(job->checkpoints().size(), 1u) << problem;
    EXPECT_EQ(job->checkpoints().at("lane").position, 14u) << problem;
    EXPECT_EQ(job->checkpoints().at("lane").note, "another note") << problem;
    const auto replayed = claim_events(*job, spec_, {"lane", 14}, std::span(events_).subspan(14));
    EXPECT_EQ(text_of(replayed.verdicts), std::string(10, '0')) << problem;
    EXPECT_EQ(filter->state(0).keys(), all_events) << problem;
    const auto newer = store.open("new", access::read);
    EXPECT_EQ(newer->path().asks_first, predecessor{"old"}) << problem;
    EXPECT_EQ(tally_of(check_keys(*store.open("old", access::read), random_digests(8).take(10))).seen, 10u)
        << problem;
  }

  void restore(const fs::path& part) const {
    fs::remove_all(damaged() / part);
    fs::copy(sound() / part, damaged() / part, fs::copy_options::recursive);
  }

  /// Damages a copy of the store.
  template <typename Damage>
  bool is_found_or_harmless(const fs::path& file, const std::string& problem, const Damage& damage) {
    // Restores the files that were damaged before or written to: the other filters are unchanged copies.
    for (const fs::path& part : std::set{fs::path("f"), last_, *file.begin()}) restore(part);
    last_ = *file.begin();
    damage(damaged() / file);
    try {
      expect_nothing_lost(file.string() + " " + problem);
    } catch (const format_error& e) {
      EXPECT_THAT(e.what(), HasSubstr((damaged() / file).string())) << problem;
    }
    return !HasFailure();
  }

  scratch_directory scratch_;
  quick_disk disk_;
  event_time time_{1'700'000'000s};
  random_digests keys_{5};
  spec spec_ = make_spec({.capacity = 100, .error_rate = 1e-12, .seed = hash_seed{}, .partitions = 1});
  std::vector<event> events_;
  std::vector<fs::path> files_{};
  fs::path last_ = "f";  ///< the part of the copy that was damaged last
};

TEST_P(FileDamage, UndamagedStoreLosesNothing) {
  EXPECT_TRUE(is_found_or_harmless("f/manifest", "as it was", [](const fs::path&) {}));
  EXPECT_GE(files_.size(), 12u);
}

// Promise: a journal, a link or an end that is missing, cut or changed is detected, up to what was
// acknowledged (files, Damage).
TEST_P(FileDamage, DeletedFileIsReportedOrLosesNothing) {
  for (const fs::path& file : files_)
    (void)is_found_or_harmless(file, "deleted", [](const fs::path& copy) { fs::remove(copy); });
}

// Promise: a journal, a link or an end that is missing, cut or changed is detected, up to what was
// acknowledged (files, Damage).
TEST_P(FileDamage, FileCutAnywhereIsReportedOrLosesNothing) {
  for (const fs::path& file : files_) {
    const std::size_t step = is_segment(file) ? 61 : 1;
    for (std::size_t left = 0; left < fs::file_size(sound() / file); left += step)
      if (!is_found_or_harmless(file, "cut to " + std::to_string(left),
                                [&](const fs::path& copy) { fs::resize_file(copy, left); }))
        break;
  }
}

// Promise: a journal, a link or an end that is missing, cut or changed is detected, up to what was
// acknowledged (files, Damage).
TEST_P(FileDamage, AnyFlippedOrZeroedByteIsReportedOrLosesNothing) {
  for (const fs::path& file : files_) {
    const std::string whole = read_file(sound() / file);
    const std::size_t end = is_segment(file) ? 160 : whole.size();
    for (std::size_t at_byte = 0; at_byte < end; ++at_byte)
      for (const bool to_zero : {false, true}) {
        std::string changed = whole;
        changed[at_byte] = to_zero ? '\0' : static_cast<char>(changed[at_byte] ^ 0x10);
        if (changed == whole) continue;
        if (!is_found_or_harmless(file, "byte " + std::to_string(at_byte),
                                  [&](const fs::path& copy) { write_file(copy, changed); }))
          break;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Store, FileDamage, testing::Values("closed", "killed"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace everseen
