#include "everseen/dedup/dedup.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/dedup/numbered_lines.hpp"
#include "test/support/model/memory_file.hpp"
#include "test/support/model/naive_dedup.hpp"
#include "test/support/pipe.hpp"
#include "test/support/printing.hpp"
#include "test/support/text_files.hpp"

namespace everseen {
namespace {

using test::numbered_lines;
using testing::HasSubstr;

filter make_filter(const spec& s) {
  return {"f", memory_store().create("f", s)};
}
filter make_filter() {
  return make_filter(test::errorless(1000, growth_kind::grow, {}, 7));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Lines 0, 1, 2, ... of which every third repeats an earlier one.
/// One run over a text, and its results.
struct one_run {
  one_run(filter f, const std::string& text, const dedup_options& options, std::size_t block_bytes = 64)
      : seen(std::move(f)) {
    const test::memory_file in(text);
    block_reader input({in.path()}, options.format, block_bytes);
    const test::memory_file written;
    output out(written.descriptor(), "memory");
    try {
      deduplicate(input, seen, out, options, result);
    } catch (const std::exception& e) {
      error = e.what();
    }
    text_written = written.text();
  }

  filter seen;
  dedup_result result;
  std::string error;
  std::string text_written;
};

TEST(Dedup, KeepsTheFirstOfEachLine) {
  const one_run run(make_filter(), "b\na\nb\n\nc\na\n\n", {});
  EXPECT_EQ(run.text_written, "b\na\n\nc\n");
  EXPECT_EQ(run.result.verdicts, (tally{.fresh = 4, .seen = 3}));
  EXPECT_EQ(run.result.records, 7U);
  EXPECT_EQ(run.result.bytes, 12U);
}

// Promise: a carriage return is a part of the record (dedup, Keys and records).
TEST(Dedup, TreatsACarriageReturnAsPartOfTheLine) {
  EXPECT_EQ(one_run(make_filter(), "a\r\na\na\r\n", {}).text_written, "a\r\na\n");
}

// Promise: a last record without a separator is a record like any other and is printed with one (dedup, Keys
// and records).
TEST(Dedup, EndsTheLastLine) {
  EXPECT_EQ(one_run(make_filter(), "a\nb\na", {}).text_written, "a\nb\n");
  EXPECT_EQ(one_run(make_filter(), "a\nb", {}).text_written, "a\nb\n");
}

// Promise: NUL is a byte like any other, unless it is the separator (dedup, Keys and records).
TEST(Dedup, KeepsNulsInLinesAndSeparatesByThemOnRequest) {
  const std::string text("a\0b\na\0c\na\0b\n", 12);
  EXPECT_EQ(one_run(make_filter(), text, {}).text_written, std::string("a\0b\na\0c\n", 8));
  dedup_options nul;
  nul.format.separator = '\0';
  EXPECT_EQ(one_run(make_filter(), std::string("a\nb\0c\0a\nb\0", 10), nul).text_written,
            std::string("a\nb\0c\0", 6));
}

TEST(Dedup, WritesNothingForAnEmptyInput) {
  for (const unsigned threads : {1U, 4U}) {
    dedup_options options;
    options.threads = threads;
    const one_run run(make_filter(), "", options);
    EXPECT_EQ(run.text_written, "");
    EXPECT_EQ(run.result.records, 0U);
  }
}

TEST(Dedup, NeedsNoMoreThreadsThanHaveWork) {
  EXPECT_EQ(useful_dedup_threads(64, 16), 8U);
  EXPECT_EQ(useful_dedup_threads(64, 3), 3U);
  EXPECT_EQ(useful_dedup_threads(2, 16), 2U);
  EXPECT_EQ(useful_dedup_threads(0, 16), 1U) << "the number of cores is not known";
}

TEST(Dedup, NeedsAsManyThreadsForServersAsHaveRoundTripsToWaitFor) {
  EXPECT_EQ(useful_remote_dedup_threads(2, 64), 8U);
  EXPECT_EQ(useful_remote_dedup_threads(16, 64), 32U);
  EXPECT_EQ(useful_remote_dedup_threads(16, 3), 4U) << "one thread has the next block ready";
  EXPECT_EQ(useful_remote_dedup_threads(0, 64), 8U) << "the number of cores is not known";
}

TEST(Dedup, RemembersTheEarlierKeysOfTheFilter) {
  filter f = make_filter();
  f.add("old");
  EXPECT_EQ(one_run(f, "new\nold\n", {}).text_written, "new\n");
}

TEST(Dedup, DistinguishesLateRecords) {
  const window_spec w{std::chrono::milliseconds(1000), 10};
  dedup_options options;
  options.key = {{field_rule::kind::delimited, 1, ' ', {}}};
  options.time = field_rule{field_rule::kind::delimited, 2, ' ', {}};
  const std::string text = "a 100\nb 102\nc 100\na 102\n";
  const spec s = test::errorless(1000, growth_kind::grow, w);
  const one_run run(make_filter(s), text, options);
  EXPECT_EQ(run.text_written, "a 100\nb 102\na 102\n");
  EXPECT_EQ(run.result.verdicts, (tally{.fresh = 3, .late = 1}));
  options.wanted = verdict::late;
  EXPECT_EQ(one_run(make_filter(s), text, options).text_written, "c 100\n");
}

TEST(Dedup, RefusesAWindowWithoutTimes) {
  const one_run run(
      make_filter(test::errorless(100, growth_kind::grow, window_spec{std::chrono::milliseconds(1000), 10})),
      "a\n", {});
  EXPECT_THAT(run.error, HasSubstr("window"));
}

// Promise: a line without a time has the clock's time when its block was read (dedup, Lines without times).
TEST(Dedup, ReadsTheClockForEachBlock) {
  dedup_options options;
  options.clock = [time = std::int64_t{0}]() mutable { return test::at_ms(time += 600); };
  const window_spec w{std::chrono::milliseconds(1000), 1};
  // Blocks of one line; a key is forgotten after one to two seconds.
  const one_run run(make_filter(test::errorless(100, growth_kind::grow, w)), "a\na\nb\nb\na\n", options, 2);
  EXPECT_EQ(run.text_written, "a\nb\na\n");
}

// Promise: a clock that is set back stands still (dedup, Lines without times).
TEST(Dedup, StopsAClockThatIsSetBack) {
  dedup_options options;
  options.clock = [time = std::int64_t{100'000}]() mutable { return test::at_ms(time -= 10'000); };
  const window_spec w{std::chrono::milliseconds(1000), 10};
  const one_run run(make_filter(test::errorless(100, growth_kind::grow, w)), "a\nb\na\n", options, 2);
  EXPECT_EQ(run.text_written, "a\nb\n");
  EXPECT_EQ(run.result.verdicts, (tally{.fresh = 2, .seen = 1}));
}

// Promise: a line without a time is never late, though the clock was ahead in an earlier run (dedup, Lines
// without times).
TEST(Dedup, BeginsNoEarlierThanTheNewestSliceOfTheFilter) {
  const window_spec w{std::chrono::milliseconds(1000), 10};
  filter seen = make_filter(test::errorless(100, growth_kind::grow, w));
  EXPECT_EQ(seen.newest_slice(), std::nullopt);
  EXPECT_EQ(seen.add("a", test::at_ms(100'050)), verdict::fresh);
  EXPECT_EQ(seen.newest_slice(), test::at_ms(100'000));
  dedup_options options;
  options.clock = [] { return test::at_ms(5'000); };
  const one_run run(std::move(seen), "a\nb\na\n", options, 2);
  EXPECT_EQ(run.text_written, "b\n");
  EXPECT_EQ(run.result.verdicts, (tally{.fresh = 1, .seen = 2}));
}

TEST(Dedup, DeliversALiveLineBeforeTheInputEnds) {
  test::pipe in;
  test::pipe written;
  filter f = make_filter();
  block_reader input({in.path()}, {}, dedup_block_bytes);
  std::jthread worker([&] {
    output out(written.writer(), "pipe");
    dedup_options options;
    options.threads = 3;
    deduplicate(input, f, out, options);
    written.close_writer();
  });
  char got[8] = {};
  in.write("one\none\n");
  ASSERT_EQ(::read(written.reader(), got, sizeof got), 4);
  EXPECT_EQ(std::string_view(got, 4), "one\n");
  in.write("two\n");
  ASSERT_EQ(::read(written.reader(), got, sizeof got), 4);
  EXPECT_EQ(std::string_view(got, 4), "two\n");
  in.close_writer();
  EXPECT_EQ(written.read_all(), "");
}

TEST(Dedup, WaitsForAnOutputThatDoesNotBlock) {
  test::pipe written(O_NONBLOCK);
  const std::string text = [] {
    std::string lines;
    for (int i = 0; i < 50'000; ++i) lines += std::to_string(i) + "\n";
    return lines;
  }();
  std::string got;
  {
    const std::jthread reader([&] {
      char buffer[4096];
      for (;;) {
        const ssize_t n = ::read(written.reader(), buffer, sizeof buffer);
        if (n > 0) got.append(buffer, static_cast<std::size_t>(n));
        if (n == 0 || got.size() == text.size()) return;
        if (n < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    output(written.writer(), "pipe").write(text);
    written.close_writer();
  }
  EXPECT_TRUE(got == text);
}

// ---- failures: which records are written

class DedupFailure : public testing::TestWithParam<unsigned> {
 protected:
  DedupFailure() { options.threads = GetParam(); }
  dedup_options options;
};

// Promise: a run with a full filter has printed exactly the records that it added (dedup, Runs that end
// early).
TEST_P(DedupFailure, WritesExactlyTheRecordsItAddedWhenTheFilterIsFull) {
  const std::string text = numbered_lines(2000);
  const one_run run(make_filter(test::errorless(300, growth_kind::refuse)), text, options);
  ASSERT_TRUE(run.result.failure);
  EXPECT_EQ(run.result.failure->why, batch_failure::cause::full);
  EXPECT_EQ(run.result.verdicts.fresh, 300U);
  EXPECT_GT(run.result.verdicts.unknown, 0U);
  EXPECT_LT(run.result.records, 2000U) << "it stopped reading";
  EXPECT_EQ(run.result.verdicts.keys(), run.result.records);

  const std::vector<std::string> written = lines_of(run.text_written);
  const std::set<std::string> unique(written.begin(), written.end());
  EXPECT_EQ(written.size(), 300U);
  EXPECT_EQ(unique.size(), 300U);
  for (const std::string& line : lines_of(text))
    ASSERT_EQ(run.seen.may_contain(line), unique.contains(line)) << line;
}

// Promise: at a record without a key all before it is printed and nothing later is added (dedup, Runs that
// end early).
TEST_P(DedupFailure, WritesAllBeforeAnUnreadableRecordAndAddsNothingAfterIt) {
  options.key = {{field_rule::kind::delimited, 2, ' ', {}}};
  for (const unsigned bad : {1U, 2U, 100U, 1999U, 2000U}) {
    std::string text;
    unsigned number = 0;
    for (const std::string& line : lines_of(numbered_lines(2000)))
      text += (++number == bad ? "damaged" : line) + "\n";
    for (const std::size_t block_bytes : {1U, 64U, 5000U, 1U << 20}) {
      const one_run run(make_filter(), text, options, block_bytes);
      const test::naive_dedup naive(run.seen.get_spec(), options, text);
      EXPECT_THAT(run.error, testing::StartsWith("line " + std::to_string(bad) + " of "));
      EXPECT_THAT(run.error, testing::HasSubstr(" has no key: there is no field 2; it is 'damaged'; "));
      EXPECT_TRUE(run.text_written == naive.output) << bad << ", blocks of " << block_bytes;
      EXPECT_EQ(run.seen.info().keys, naive.added.size());
      EXPECT_EQ(run.result.records, bad - 1);
      EXPECT_EQ(run.result.verdicts.keys(), bad - 1) << "the counts are also right when it throws";
    }
  }
}

// Promise: a full disk is reported and nothing is written after it (dedup, Runs that end early).
TEST_P(DedupFailure, ReportsAFullDiskAndWritesNothingAfterIt) {
  const descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  output out(full.get(), "/dev/full");
  // Only the first block has something to write. If the others passed, progress would be called for them.
  options.wanted = verdict::seen;
  unsigned passed = 0;
  options.progress = [&](const dedup_result&) { ++passed; };
  std::string text = "a\na\n";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + "\n";
  const test::memory_file in(text);
  block_reader input({in.path()}, {}, 16);
  filter f = make_filter();
  try {
    deduplicate(input, f, out, options);
    FAIL();
  } catch (const storage_error& e) {
    EXPECT_EQ(e.code(), ENOSPC);
    EXPECT_THAT(e.what(), HasSubstr("/dev/full"));
  }
  EXPECT_EQ(passed, 0U);
}

// Promise: a run whose output fails adds no more keys without their records than those of one block (dedup,
// Runs that end early).
TEST_P(DedupFailure, AddsTheKeysOfOneUnwrittenBlockAtMost) {
  std::signal(SIGPIPE, SIG_IGN);
  std::string text;
  for (int i = 1000; i < 10'000; ++i) text += std::to_string(i) + "\n";
  constexpr std::size_t block_bytes = 100;  // 20 lines
  options.adding_keys = dedup_options::adding_order::before_block;
  test::pipe written;
  written.close_reader();
  const test::memory_file in(text);
  block_reader input({in.path()}, {}, block_bytes);
  filter f = make_filter();
  output out(written.writer(), "pipe");
  EXPECT_THROW(deduplicate(input, f, out, options), storage_error);
  EXPECT_EQ(f.info().keys, 20U);
}

TEST_P(DedupFailure, AddsNothingMoreWhereTheOutputIsNotReady) {
  std::string text;
  for (int i = 1000; i < 10'000; ++i) text += std::to_string(i) + "\n";
  const test::memory_file in(text);
  block_reader input({in.path()}, {}, 100);
  filter f = make_filter();
  const test::memory_file written;
  output out(written.descriptor(), "file");
  options.adding_keys = dedup_options::adding_order::before_block;
  int asked = 0;
  options.settle_output = [&](std::size_t records) {
    EXPECT_EQ(records, 20U);
    EXPECT_EQ(f.info().keys * 5, out.bytes()) << "everything judged is written";
    if (++asked == 4) throw std::runtime_error("the reader has left");
  };
  EXPECT_THROW(deduplicate(input, f, out, options), std::runtime_error);
  EXPECT_EQ(f.info().keys, 60U);
}

// Promise: where the reader leaves, a beginning of the result was written (dedup, Runs that end early).
TEST_P(DedupFailure, WritesABeginningOfTheResultWhenTheReaderExits) {
  std::signal(SIGPIPE, SIG_IGN);
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "\n";
  test::pipe written;
  const test::memory_file in(text);
  block_reader input({in.path()}, {}, 4096);
  filter f = make_filter();
  std::string got(1000, '\0');
  std::jthread reader([&] {
    std::size_t size = 0;
    while (size < got.size())
      size += static_cast<std::size_t>(::read(written.reader(), got.data() + size, got.size() - size));
    written.close_reader();
  });
  output out(written.writer(), "pipe");
  try {
    deduplicate(input, f, out, options);
    FAIL();
  } catch (const storage_error& e) {
    EXPECT_EQ(e.code(), EPIPE);
  }
  reader.join();
  EXPECT_TRUE(text.starts_with(got));
}

// Promise: where reading fails, all that was read before is printed (dedup, Runs that end early).
TEST_P(DedupFailure, WritesAllRecordsReadBeforeReadingFailed) {
  const std::string text = numbered_lines(500);
  const test::memory_file in(text);
  block_reader input({in.path(), "/proc/self/mem"}, {}, 1000);
  filter f = make_filter();
  const test::memory_file written;
  output out(written.descriptor(), "memory");
  EXPECT_THROW(deduplicate(input, f, out, options), storage_error);
  EXPECT_TRUE(written.text() == test::naive_dedup(f.get_spec(), options, text).output);
}

// Promise: an interrupted run has printed every record that it added (dedup, Runs that end early).
TEST_P(DedupFailure, WritesEveryRecordItAddedWhenItIsInterrupted) {
  const std::string text = numbered_lines(2000);
  for (const unsigned calls : {1U, 2U, 20U}) {
    unsigned left = calls;
    options.progress = [&](const dedup_result&) {
      if (--left == 0) throw std::runtime_error("interrupted");
    };
    const one_run run(make_filter(), text, options);
    EXPECT_EQ(run.error, "interrupted");
    EXPECT_EQ(lines_of(run.text_written).size(), run.seen.info().keys);
    const test::naive_dedup naive(run.seen.get_spec(), options, text);
    EXPECT_TRUE(naive.output.starts_with(run.text_written));
  }
}

TEST_P(DedupFailure, EndsWhenTheClockFails) {
  for (const unsigned calls : {1U, 5U}) {
    options.clock = [left = calls]() mutable {
      if (--left == 0) throw std::runtime_error("no clock");
      return event_time{};
    };
    const one_run run(make_filter(), numbered_lines(500), options);
    EXPECT_EQ(run.error, "no clock");
    EXPECT_EQ(lines_of(run.text_written).size(), run.seen.info().keys);
  }
}

INSTANTIATE_TEST_SUITE_P(Dedup, DedupFailure, testing::Values(1, 2, 4));

}  // namespace
}  // namespace everseen
