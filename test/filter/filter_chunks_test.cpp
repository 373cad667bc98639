#include "everseen/filter/filter_chunks.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/store/memory/memory_store.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;

filter made_in(memory_store& place, const std::string& name) {
  spec_request r;
  r.capacity = 1'000;
  r.partitions = 2;
  return {name, place.create(name, place.plan(r))};
}

void add_keys(filter& target, int from, int last) {
  for (int i = from; i < last; ++i) (void)target.add(std::to_string(i));
}

std::vector<filter_chunk> all_chunks(const filter& f) {
  std::vector<filter_chunk> all;
  for (auto c = dump_chunk(f, 0); c.iterator != 0; c = dump_chunk(f, c.iterator)) all.push_back(c);
  return all;
}

TEST(FilterChunks, CarryAllPartitions) {
  memory_store from, destination;
  filter source = made_in(from, "f");
  add_keys(source, 0, 5'000);
  const std::vector<filter_chunk> chunks = all_chunks(source);
  ASSERT_GE(chunks.size(), 5U);
  chunk_loader loader(destination, "g", chunks[0].bytes);
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    EXPECT_FALSE(loader.is_complete());
    loader.load(chunks[i].iterator, chunks[i].bytes);
  }
  EXPECT_TRUE(loader.is_complete());
  EXPECT_EQ(loader.bytes_made(), loader.announced().bit_bytes());
  loader.commit();
  const filter copy("g", destination.open("g", access::read));
  for (int i = 0; i < 5'000; ++i) ASSERT_TRUE(copy.may_contain(std::to_string(i))) << i;
  EXPECT_EQ(copy.get_spec(), source.get_spec());
  for (std::uint32_t p = 0; p < 2; ++p) EXPECT_EQ(copy.stored().state(p), source.stored().state(p));
}

TEST(FilterChunks, OfAFilterThatGrewDuringTheCopyDoNotFit) {
  memory_store from, destination;
  filter source = made_in(from, "f");
  add_keys(source, 0, 500);
  const std::vector<filter_chunk> before = all_chunks(source);
  ASSERT_EQ(before.size(), 3U);
  add_keys(source, 500, 5'000);
  chunk_loader loader(destination, "g", before[0].bytes);
  loader.load(before[1].iterator, before[1].bytes);
  const filter_chunk late =
      dump_chunk(source, before[1].iterator);  // the second layer of the first partition
  try {
    loader.load(late.iterator, late.bytes);
    FAIL() << "the chunk was mistaken for one of the second partition";
  } catch (const format_error& why) {
    EXPECT_THAT(why.what(), HasSubstr("not the chunks of a filter"));
  }
  EXPECT_FALSE(loader.is_complete());
  EXPECT_THROW(loader.commit(), format_error);
  EXPECT_FALSE(destination.exists("g"));
}

TEST(FilterChunks, OfAFilterThatWasEmptiedMeanwhileDoNotFit) {
  memory_store from, destination;
  filter source = made_in(from, "f");
  add_keys(source, 0, 500);
  const std::vector<filter_chunk> before = all_chunks(source);
  chunk_loader loader(destination, "g", before[0].bytes);
  from.reset("f");
  EXPECT_THROW((void)dump_chunk(filter("f", from.open("f", access::read)), 1).bytes.at(0), std::exception);
  add_keys(source, 500, 600);  // fewer than announced
  const filter_chunk fewer = dump_chunk(source, 1);
  ASSERT_FALSE(fewer.bytes.empty());
  EXPECT_THROW(loader.load(fewer.iterator, fewer.bytes), format_error);
}

TEST(FilterChunks, InTooManyPiecesAreRefused) {
  memory_store from, destination;
  spec_request r;
  r.capacity = 100'000;
  r.layout = layout_kind::redisbloom;
  filter source("f", from.create("f", from.plan(r)));
  add_keys(source, 0, 10);
  const std::vector<filter_chunk> chunks = all_chunks(source);
  ASSERT_EQ(chunks.size(), 2U);
  chunk_loader loader(destination, "g", chunks[0].bytes);
  const auto load_every_other_byte = [&] {
    for (std::int64_t i = 0; i < 100'000; i += 2) loader.load(i + 2, std::vector<std::byte>(1));
  };
  EXPECT_THROW(load_every_other_byte(), format_error);
}

}  // namespace
}  // namespace everseen::test
