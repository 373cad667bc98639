#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/server/serving.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// The number behind a type byte, and the line end that follows it.
std::int64_t number_line(raw_client& from) {
  std::string line;
  while (!line.ends_with("\r\n")) line += from.receive(1);
  return std::stoll(line.substr(1));
}

struct chunk {
  std::int64_t iterator = 0;
  std::string bytes;
};

chunk dump(raw_client& from, const std::string& filter, std::int64_t iterator) {
  from.send(encoded({"BF.SCANDUMP", filter, std::to_string(iterator)}));
  EXPECT_EQ(from.receive(4), "*2\r\n");
  chunk c;
  c.iterator = number_line(from);
  c.bytes.resize(static_cast<std::size_t>(number_line(from)));
  c.bytes = from.receive(c.bytes.size());
  EXPECT_EQ(from.receive(2), "\r\n");
  return c;
}

// Promise: BF.SCANDUMP and BF.LOADCHUNK carry a filter from server to server (operations, Bloom commands).
TEST(Chunks, CarryAFilterFromServerToServer) {
  const serving from("mem:", {"--redisbloom"});
  const serving to("mem:");
  raw_client source(from.path()), target(to.path());
  EXPECT_EQ(source.ask(encoded({"BF.RESERVE", "f", "0.001", "1000", "EXPANSION", "4"}), 5), "+OK\r\n");
  constexpr int keys = 12'000;  // three layers
  for (int i = 0; i < keys; ++i) source.send(encoded({"BF.ADD", "f", std::to_string(i)}));
  for (int i = 0; i < keys; ++i) ASSERT_THAT(source.receive(4), StartsWith(":"));

  std::size_t chunks = 0;
  for (chunk c = dump(source, "f", 0); c.iterator != 0; c = dump(source, "f", c.iterator), ++chunks) {
    EXPECT_EQ(to.cli({"EXISTS", "f"}), "0");
    EXPECT_EQ(target.ask(encoded({"BF.LOADCHUNK", "f", std::to_string(c.iterator), c.bytes}), 5), "+OK\r\n");
  }
  EXPECT_EQ(chunks, 4U);  // the header and a chunk a layer
  for (int i = 0; i < keys; ++i) {
    target.send(encoded({"BF.EXISTS", "f", std::to_string(i)}));
    ASSERT_EQ(target.receive(4), ":1\r\n") << i;
  }
  EXPECT_EQ(to.cli({"BF.INFO", "f"}), from.cli({"BF.INFO", "f"}));
  EXPECT_THAT(to.cli({"BF.INFO", "f", "EXPANSION"}), HasSubstr("4"));
}

/// The chunks of an empty filter of some 1.2 MB.
std::vector<chunk> chunks_of_a_megabyte() {
  const serving from("mem:", {"--redisbloom"});
  raw_client source(from.path());
  EXPECT_EQ(source.ask(encoded({"BF.RESERVE", "f", "0.01", "1000000", "NONSCALING"}), 5), "+OK\r\n");
  std::vector<chunk> all;
  for (chunk c = dump(source, "f", 0); c.iterator != 0; c = dump(source, "f", c.iterator)) all.push_back(c);
  return all;
}

std::string reply_to(raw_client& server, const std::string& filter, const chunk& c) {
  server.send(encoded({"BF.LOADCHUNK", filter, std::to_string(c.iterator), c.bytes}));
  std::string line;
  while (!line.ends_with("\r\n")) line += server.receive(1);
  return line;
}

TEST(Chunks, HaveRoomFromTheHeaderOnOrAreRefused) {
  const std::vector<chunk> chunks = chunks_of_a_megabyte();
  ASSERT_EQ(chunks.size(), 2U);
  const serving server("mem:", {"--maxmemory", "3M"});
  raw_client client(server.path());
  EXPECT_EQ(reply_to(client, "a", chunks[0]), "+OK\r\n");
  EXPECT_EQ(reply_to(client, "b", chunks[0]), "+OK\r\n");
  EXPECT_THAT(reply_to(client, "c", chunks[0]), StartsWith("-OOM command not allowed"));
  EXPECT_THAT(server.cli({"BF.RESERVE", "d", "0.01", "1000000"}), StartsWith("OOM command not allowed"));
  EXPECT_EQ(reply_to(client, "a", chunks[1]), "+OK\r\n");
  EXPECT_EQ(reply_to(client, "b", chunks[1]), "+OK\r\n");
  EXPECT_THAT(reply_to(client, "c", chunks[0]), StartsWith("-OOM command not allowed"))
      << "filters that were loaded take room before anybody asks for them";
  EXPECT_EQ(server.cli({"BF.ADD", "a", "x"}), "1");
  EXPECT_EQ(server.cli({"DEL", "a"}), "1");
  EXPECT_EQ(reply_to(client, "c", chunks[0]), "+OK\r\n");
}

TEST(Chunks, OfALoadThatFailsGiveTheirRoomBack) {
  const std::vector<chunk> chunks = chunks_of_a_megabyte();
  const serving server("mem:", {"--maxmemory", "2M"});
  raw_client client(server.path());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reply_to(client, "a", chunks[0]), "+OK\r\n") << "it begins anew";
    EXPECT_THAT(reply_to(client, "a", {chunks[1].iterator, "too few"}), StartsWith("-"));
  }
  EXPECT_EQ(reply_to(client, "b", chunks[0]), "+OK\r\n");
}

TEST(Chunks, ThatAreNoneAreRefusedAndLeaveNothing) {
  const serving server;
  EXPECT_THAT(server.cli({"BF.LOADCHUNK", "f", "1", "not a header"}), StartsWith("ERR received bad data"));
  EXPECT_EQ(server.cli({"BF.LOADCHUNK", "f", "17", "bits"}), "ERR not found");
  EXPECT_EQ(server.cli({"BF.LOADCHUNK", "f", "x", "bits"}), "ERR Second argument must be numeric");
  EXPECT_EQ(server.cli({"EXISTS", "f"}), "0");
}

TEST(Chunks, AreNotGivenOfAFilterOfOurOwnLayout) {
  const serving server;
  EXPECT_EQ(server.cli({"BF.ADD", "f", "x"}), "1");
  EXPECT_THAT(server.cli({"BF.SCANDUMP", "f", "0"}), HasSubstr("everseen serve --redisbloom"));
}

}  // namespace
}  // namespace everseen::test
