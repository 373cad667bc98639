#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/dedup/dedup.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/dedup/numbered_lines.hpp"
#include "test/support/model/exact_partition.hpp"
#include "test/support/model/memory_file.hpp"

namespace everseen {
namespace {

using test::numbered_lines;
using testing::HasSubstr;
using testing::Not;
using outage = dedup_options::outage;

/// A filter whose store is unavailable for some calls. By then, half of the keys of a batch have their
/// answer.
class failing_filter : public stored_filter {
 public:
  explicit failing_filter(std::shared_ptr<stored_filter> below) : below_(std::move(below)) {}

  void fail_calls(int from, int end, batch_failure::cause why = batch_failure::cause::backend) {
    from_ = from;
    end_ = end;
    why_ = why;
  }
  [[nodiscard]] int calls() const noexcept { return calls_; }

  [[nodiscard]] const spec& get_spec() const noexcept override { return below_->get_spec(); }
  batch_result add(std::span<const partition_batch> batches) override {
    const int call = calls_++;
    if (call < from_ || call >= end_) return below_->add(batches);
    batch_failure failure{why_, "the store is away", {}};
    for (const partition_batch& b : batches) {
      const std::size_t half = b.out.size() / 2;
      std::ranges::fill(b.out, verdict::unknown);
      const auto times = b.times.size() > 1 ? b.times.first(half) : b.times;
      const partition_batch first = {b.partition, b.digests.first(half), times, b.out.first(half)};
      failure.done += *below_->add({&first, 1});
      failure.done.unknown += b.out.size() - half;
    }
    return tl::unexpected(std::move(failure));
  }
  batch_result check(std::span<const partition_batch> batches) const override {
    return std::as_const(*below_).check(batches);
  }
  [[nodiscard]] partition_state state(std::uint32_t partition) const override {
    return below_->state(partition);
  }
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override {
    below_->visit_segments(partition, visit);
  }
  void sync() override {}

 private:
  std::shared_ptr<stored_filter> below_;
  std::atomic<int> calls_{0};
  int from_ = 0;
  int end_ = 0;
  batch_failure::cause why_ = batch_failure::cause::backend;
};

/// Lines of which every third repeats an earlier one.
/// A run over a filter that may fail.
struct disturbed {
  disturbed() {
    const spec s = test::errorless(10'000, growth_kind::grow, {}, 4);
    stored = std::make_shared<failing_filter>(memory_store().create("f", s));
  }

  std::string run(const std::string& text, const dedup_options& options) {
    const test::memory_file in(text);
    block_reader input({in.path()}, options.format, 256);
    const test::memory_file written;
    output out(written.descriptor(), "memory");
    filter seen("f", stored);
    error.clear();
    try {
      result = deduplicate(input, seen, out, options);
    } catch (const std::exception& e) {
      error = e.what();
    }
    return written.text();
  }

  [[nodiscard]] std::uint64_t judged() const {
    const tally& v = result.verdicts;
    return v.fresh + v.seen + v.late + v.unknown;
  }

  std::shared_ptr<failing_filter> stored;
  dedup_result result;
  std::string error;
};

std::string undisturbed(const std::string& text) {
  return disturbed().run(text, {});
}

TEST(DedupOutage, EndsTheRunByDefaultAndSendsNoMore) {
  disturbed one;
  const std::string text = numbered_lines(1000);
  one.stored->fail_calls(20, 1'000'000);
  const std::string written = one.run(text, {});
  ASSERT_TRUE(one.result.failure);
  EXPECT_THAT(one.result.failure->message, HasSubstr("away"));
  EXPECT_EQ(one.stored->calls(), 21);  // each further call would wait for the store again
  EXPECT_EQ(std::ranges::count(written, '\n'), static_cast<std::ptrdiff_t>(one.result.verdicts.fresh));
}

TEST(DedupOutage, IsReportedWithTheFirstRecordWithoutAnAnswer) {
  for (const unsigned threads : {1U, 4U}) {
    disturbed one;
    one.stored->fail_calls(20, 1'000'000);
    dedup_options options;
    options.threads = threads;
    std::string text;
    for (int i = 1; i <= 1000; ++i) text += std::to_string(i) + "\n";
    std::string written = "\n";
    written += one.run(text, options);
    const std::uint64_t first = one.result.first_unknown;
    ASSERT_GT(first, 1U);
    EXPECT_TRUE(written.starts_with("\n" + text.substr(0, text.find(std::to_string(first) + "\n")))) << first;
    EXPECT_THAT(written, Not(HasSubstr("\n" + std::to_string(first) + "\n")));
  }
}

// Promise: pass never drops a line whose verdict is unknown, and counts it (dedup, Outages).
TEST(DedupOutage, PassedDropsNothingAndCountsUnansweredRecords) {
  disturbed one;
  const std::string text = numbered_lines(1000);
  one.stored->fail_calls(30, 40);
  dedup_options options;
  options.on_outage = outage::pass;
  const std::string written = one.run(text, options);
  EXPECT_FALSE(one.result.failure);
  EXPECT_GT(one.result.verdicts.unknown, 0U);
  EXPECT_EQ(one.judged(), 1000U);
  EXPECT_EQ(std::ranges::count(written, '\n'),
            static_cast<std::ptrdiff_t>(one.result.verdicts.fresh + one.result.verdicts.unknown));
  // Every line of the undisturbed result is present.
  const std::string wanted = undisturbed(text);
  for (std::size_t begin = 0; begin < wanted.size();) {
    const std::size_t end = wanted.find('\n', begin) + 1;
    const std::string line = wanted.substr(begin, end - begin);
    EXPECT_TRUE(written.starts_with(line) || written.find('\n' + line) != std::string::npos) << line;
    begin = end;
  }
}

TEST(DedupOutage, PassedLinesAreNotRepeats) {
  disturbed one;
  one.stored->fail_calls(0, 1'000'000);
  dedup_options options;
  options.on_outage = outage::pass;
  options.wanted = verdict::seen;
  EXPECT_EQ(one.run("a\nb\nc\n", options), "");
  EXPECT_EQ(one.result.records, 3U);
}

// Promise: a full or damaged filter, or one that is gone, is not an outage (dedup, Outages).
TEST(DedupOutage, DoesNotIncludeAFilterThatIsFullDamagedOrGone) {
  // A failure of storage without an errno is about a filter that was dropped or replaced.
  for (const auto why :
       {batch_failure::cause::full, batch_failure::cause::format, batch_failure::cause::storage}) {
    disturbed damaged;
    damaged.stored->fail_calls(10, 1'000'000, why);
    dedup_options options;
    options.on_outage = outage::pass;
    damaged.run(numbered_lines(1000), options);
    ASSERT_TRUE(damaged.result.failure);
    EXPECT_EQ(damaged.result.failure->why, why);
  }
}

}  // namespace
}  // namespace everseen
