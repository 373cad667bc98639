// Events that get their times from the machine's clock, which may jump.

#include "everseen/jobs/event_batch.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/store/memory/memory_store.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;

class EventClock : public testing::Test {
 protected:
  EventClock() {
    options_.clock = [this] { return time_; };
  }
  static spec windowed() {
    spec s = make_spec({.capacity = 100, .seed = hash_seed{}, .partitions = 1});
    s.window = window_spec{1h, 4};
    return s;
  }
  /// Reads one event and claims it.
  verdict judge(event_reader& reader, ledger& book) {
    std::string line = std::to_string(next_);
    line.append(block_reader::padding, ' ');
    source_batch records;
    records.lane = "lane";
    records.records.push_back({std::string_view(line).substr(0, std::to_string(next_).size()), next_});
    records.next = ++next_;
    const event_batch read = reader.read(std::move(records));
    verdict told = verdict::unknown;
    std::uint8_t before = 0;
    const claim_batch batch{{0, read.digests, read.times, {&told, 1}}, read.positions, {}, {&before, 1}};
    EXPECT_TRUE(book.claim({"lane", 0}, {&batch, 1}));
    return told;
  }

  event_time time_{1'700'000'000s};
  event_reader::options options_{};
  memory_store place_{};
  filter seen_{"f", place_.create("f", windowed())};
  std::unique_ptr<ledger> book_ = seen_.stored().open_ledger("job", "");
  std::uint64_t next_ = 0;
};

// Promise: no event is late because a clock was set back, in a run or between two (dedup, Lines without
// times).
TEST_F(EventClock, SetBackMakesNoEventLate) {
  event_reader reader(event_shape{}, seen_, options_);
  for (const auto jump : {0h, 9h, -9h, -30h, 2h}) {
    time_ += jump;
    EXPECT_EQ(judge(reader, *book_), verdict::fresh) << jump.count();
  }
}

// Promise: no event is late because a clock was set back, in a run or between two (dedup, Lines without
// times).
TEST_F(EventClock, SetBackBetweenTwoRunsMakesNoEventLate) {
  for (const auto jump : {0h, 9h, -9h, -30h, 2h}) {
    time_ += jump;
    event_reader reader(event_shape{}, seen_, options_);
    EXPECT_EQ(judge(reader, *book_), verdict::fresh) << jump.count();
  }
}

}  // namespace
}  // namespace everseen
