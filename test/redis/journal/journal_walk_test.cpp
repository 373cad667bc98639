#include "everseen/redis/journal/journal_walk.hpp"

#include <gtest/gtest.h>

namespace everseen::redis {

namespace {

constexpr std::uint64_t chunk = journal_chunk_bytes;

/// The journal of records of these lengths, from its beginning on.
known_journal journal_of(std::initializer_list<std::uint64_t> records) {
  known_journal all;
  for (const std::uint64_t bytes : records)
    all.go_on_to({begin_of_record(all.end().offset, bytes) + bytes, bytes}, bytes);
  return all;
}

TEST(PlaceOfARecord, OfAShortRecordIsAfterTheLast) {
  EXPECT_EQ(begin_of_record(0, 100), 0u);
  EXPECT_EQ(begin_of_record(7, 100), 7u);
  EXPECT_EQ(begin_of_record(chunk - 1, long_record_bytes - 1), chunk - 1) << "across the boundary of a chunk";
}

TEST(PlaceOfARecord, OfALongRecordIsTheNextBeginningOfAChunk) {
  EXPECT_EQ(begin_of_record(0, long_record_bytes), 0u);
  EXPECT_EQ(begin_of_record(1, long_record_bytes), chunk);
  EXPECT_EQ(begin_of_record(chunk - 1, long_record_bytes), chunk);
  EXPECT_EQ(begin_of_record(chunk, long_record_bytes), chunk);
  EXPECT_EQ(begin_of_record(5 * chunk + 1, chunk), 6 * chunk);
}

TEST(KnownJournal, HasTheBytesOfItsRecordsWithoutTheGapsBetweenThem) {
  EXPECT_EQ(known_journal().bytes(), 0u);
  EXPECT_EQ(journal_of({100}).bytes(), 100u);
  EXPECT_EQ(journal_of({100, 40'000, 50, 50'000, 60'000}).bytes(), 150'150u);
}

TEST(KnownJournal, HasFewerBytesAfterACheckpoint) {
  known_journal journal = journal_of({100, 40'000, 50, 50'000, 60'000});
  journal.move_begin({100, 100});
  EXPECT_EQ(journal.bytes(), 150'050u);
  journal.move_begin({chunk + 40'000, 40'000});
  EXPECT_EQ(journal.bytes(), 110'050u);
  journal.move_begin({chunk + 40'050, 50});
  EXPECT_EQ(journal.bytes(), 110'000u);
  journal.move_begin(journal.end());
  EXPECT_EQ(journal.bytes(), 0u);
  journal.go_on_to({4 * chunk + 70'000, 1}, 70'000);
  EXPECT_EQ(journal.bytes(), 70'000u);
}

TEST(KnownJournal, CountsOnlyBytesAfterACheckpointThatIsAhead) {
  known_journal journal = journal_of({100});
  journal.move_begin({2 * chunk + 50'000, 50'000});
  EXPECT_EQ(journal.bytes(), 0u);
  journal.go_on_to({chunk + 40'000, 40'000}, 40'000);
  EXPECT_EQ(journal.bytes(), 0u);
  journal.go_on_to({2 * chunk + 50'000, 50'000}, 50'000);
  EXPECT_EQ(journal.bytes(), 0u);
  journal.go_on_to({3 * chunk + 60'000, 60'000}, 60'000);
  EXPECT_EQ(journal.bytes(), 60'000u);
}

TEST(KnownJournal, RestartedForgetsItsGaps) {
  known_journal journal = journal_of({100, 40'000, 50'000});
  journal.start_at({7 * chunk, 9});
  EXPECT_EQ(journal.bytes(), 0u);
  EXPECT_EQ(journal.begin(), journal.end());
  journal.go_on_to({7 * chunk + 10, 1}, 10);
  EXPECT_EQ(journal.bytes(), 10u);
}

}  // namespace

}  // namespace everseen::redis
