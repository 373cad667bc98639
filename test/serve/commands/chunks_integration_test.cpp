#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/serve/serving.hpp"

namespace everseen::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// The number after a type byte, and the following line end.
std::int64_t number_line(raw_client& from) {
  std::string line;
  while (!line.ends_with("\r\n"))
    if (const std::string more = from.receive(1); more.empty())
      throw std::runtime_error("the server closed the connection");
    else
      line += more;
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
  const serving destination("mem:");
  raw_client source(from.path()), target(destination.path());
  EXPECT_EQ(source.ask(encoded({"BF.RESERVE", "f", "0.001", "1000", "EXPANSION", "4"}), 5), "+OK\r\n");
  constexpr int keys = 12'000;  // three layers
  for (int i = 0; i < keys; ++i) source.send(encoded({"BF.ADD", "f", std::to_string(i)}));
  for (int i = 0; i < keys; ++i) ASSERT_THAT(source.receive(4), StartsWith(":"));

  std::size_t chunks = 0;
  for (chunk c = dump(source, "f", 0); c.iterator != 0; c = dump(source, "f", c.iterator), ++chunks) {
    EXPECT_EQ(destination.cli({"EXISTS", "f"}), "0");
    EXPECT_EQ(target.ask(encoded({"BF.LOADCHUNK", "f", std::to_string(c.iterator), c.bytes}), 5), "+OK\r\n");
  }
  EXPECT_EQ(chunks, 4U);  // the header and one chunk a layer
  for (int i = 0; i < keys; ++i) {
    target.send(encoded({"BF.EXISTS", "f", std::to_string(i)}));
    ASSERT_EQ(target.receive(4), ":1\r\n") << i;
  }
  EXPECT_EQ(destination.cli({"BF.INFO", "f"}), from.cli({"BF.INFO", "f"}));
  EXPECT_THAT(destination.cli({"BF.INFO", "f", "EXPANSION"}), HasSubstr("4"));
}

/// The chunks of an empty filter; for a million keys it has some 1.2 MB.
std::vector<chunk> chunks_of_an_empty_filter(const std::string& capacity = "1000000") {
  const serving from("mem:", {"--redisbloom"});
  raw_client source(from.path());
  EXPECT_EQ(source.ask(encoded({"BF.RESERVE", "f", "0.01", capacity, "NONSCALING"}), 5), "+OK\r\n");
  std::vector<chunk> all;
  for (chunk c = dump(source, "f", 0); c.iterator != 0; c = dump(source, "f", c.iterator)) all.push_back(c);
  return all;
}

std::string reply_to(raw_client& server, const std::string& filter, const chunk& c) {
  server.send(encoded({"BF.LOADCHUNK", filter, std::to_string(c.iterator), c.bytes}));
  std::string line;
  while (!line.ends_with("\r\n"))
    if (const std::string more = server.receive(1); more.empty())
      return line + "(the server ended the connection)";
    else
      line += more;
  return line;
}

std::vector<chunk> all_chunks(raw_client& from, const std::string& filter) {
  std::vector<chunk> all;
  for (chunk c = dump(from, filter, 0); c.iterator != 0; c = dump(from, filter, c.iterator)) all.push_back(c);
  return all;
}

/// Adds the keys `from` .. `client` to a filter.
void add_keys(raw_client& client, const std::string& filter, int from, int last) {
  for (int i = from; i < last; ++i) client.send(encoded({"BF.ADD", filter, std::to_string(i)}));
  for (int i = from; i < last; ++i) ASSERT_THAT(client.receive(4), StartsWith(":"));
}

void expect_has_keys(raw_client& in, const std::string& filter, int from, int last) {
  for (int i = from; i < last; ++i) in.send(encoded({"BF.EXISTS", filter, std::to_string(i)}));
  for (int i = from; i < last; ++i) ASSERT_EQ(in.receive(4), ":1\r\n") << i;
}

TEST(Chunks, HaveRoomFromTheHeaderOnOrAreRefused) {
  const std::vector<chunk> chunks = chunks_of_an_empty_filter();
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
      << "loaded filters take room before they are used";
  EXPECT_EQ(server.cli({"BF.ADD", "a", "x"}), "1");
  EXPECT_EQ(server.cli({"DEL", "a"}), "1");
  EXPECT_EQ(reply_to(client, "c", chunks[0]), "+OK\r\n");
}

TEST(Chunks, OfAReplacedLoadReleaseTheirRoom) {
  const std::vector<chunk> chunks = chunks_of_an_empty_filter(), others = chunks_of_an_empty_filter("2000");
  const serving server("mem:", {"--maxmemory", "2M"});
  raw_client client(server.path());
  for (const chunk& header : {chunks[0], others[0], chunks[0]})
    EXPECT_EQ(reply_to(client, "a", header), "+OK\r\n") << "there is no room for two";
  EXPECT_THAT(reply_to(client, "b", chunks[0]), StartsWith("-OOM"));
  EXPECT_EQ(reply_to(client, "a", others[0]), "+OK\r\n");
  EXPECT_EQ(reply_to(client, "b", others[0]), "+OK\r\n");
}

TEST(Chunks, RefusedChunksLeaveTheLoadAsItWas) {
  const serving from("mem:"), destination("mem:");
  raw_client source(from.path()), target(destination.path());
  for (const char* name : {"f", "other"})
    ASSERT_EQ(source.ask(encoded({"BF.RESERVE", name, "0.001", "1000"}), 5), "+OK\r\n");
  add_keys(source, "f", 0, 12'000);
  add_keys(source, "other", 0, 12'000);
  const std::vector<chunk> chunks = all_chunks(source, "f"), others = all_chunks(source, "other");
  ASSERT_EQ(chunks.size(), others.size());
  ASSERT_GE(chunks.size(), 4U);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    EXPECT_EQ(reply_to(target, "f", chunks[i]), "+OK\r\n");
    if (i + 1 == chunks.size()) break;
    EXPECT_EQ(reply_to(target, "f", chunks[0]), "+OK\r\n") << "the header may come again late";
    EXPECT_THAT(reply_to(target, "f", others[i + 1]), HasSubstr("of another filter")) << i;
    EXPECT_THAT(reply_to(target, "f", {1, "not a header"}), StartsWith("-ERR received bad data"));
  }
  expect_has_keys(target, "f", 0, 12'000);
}

TEST(Chunks, InvalidChunksAreRefusedAndLeaveNothing) {
  const serving server;
  EXPECT_THAT(server.cli({"BF.LOADCHUNK", "f", "1", "not a header"}), StartsWith("ERR received bad data"));
  EXPECT_EQ(server.cli({"BF.LOADCHUNK", "f", "17", "bits"}),
            "ERR not found: the load begins with the header, the chunk of iterator 1");
  EXPECT_EQ(server.cli({"BF.LOADCHUNK", "f", "x", "bits"}), "ERR Second argument must be numeric");
  EXPECT_EQ(server.cli({"EXISTS", "f"}), "0");
}

// Promise: BF.LOADCHUNK into a key that exists is refused (operations, Bloom commands).
TEST(Chunks, IntoAKeyThatExistsAreRefusedAndItStaysAsItWas) {
  for (const std::vector<std::string>& layout : {std::vector<std::string>{}, {"--redisbloom"}}) {
    const serving server("mem:", layout);
    raw_client client(server.path());
    EXPECT_EQ(server.cli({"BF.ADD", "from", "x"}), "1");
    EXPECT_EQ(server.cli({"BF.ADD", "f", "y"}), "1");
    for (const chunk& each : all_chunks(client, "from"))
      EXPECT_EQ(reply_to(client, "f", each),
                "-ERR received bad data: the key exists; drop it, or load under another key\r\n");
    EXPECT_EQ(server.cli({"BF.MEXISTS", "f", "x", "y"}), "0\n1");
  }
}

// Promise: BF.SCANDUMP and BF.LOADCHUNK carry a filter of everseen's own layout, too (operations, Bloom
// commands).
TEST(Chunks, CarryAFilterOfOurOwnLayout) {
  const serving from("mem:"), destination("mem:");
  raw_client source(from.path()), target(destination.path());
  ASSERT_EQ(source.ask(encoded({"BF.RESERVE", "f", "0.001", "1000"}), 5), "+OK\r\n");
  constexpr int keys = 12'000;  // several layers
  add_keys(source, "f", 0, keys);
  const std::vector<chunk> chunks = all_chunks(source, "f");
  ASSERT_GE(chunks.size(), 4U);
  for (const chunk& c : chunks) {
    EXPECT_EQ(destination.cli({"EXISTS", "f"}), "0");
    EXPECT_EQ(reply_to(target, "f", c), "+OK\r\n");
  }
  expect_has_keys(target, "f", 0, keys);
  EXPECT_EQ(destination.cli({"BF.INFO", "f"}), from.cli({"BF.INFO", "f"}));
  EXPECT_EQ(all_chunks(target, "f").size(), chunks.size());
}

TEST(Chunks, CarryAnEmptyFilterAndOneWithAWindow) {
  const serving from("mem:"), destination("mem:");
  raw_client source(from.path()), target(destination.path());
  ASSERT_EQ(source.ask(encoded({"BF.RESERVE", "e", "0.001", "1000"}), 5), "+OK\r\n");
  for (const chunk& c : all_chunks(source, "e")) EXPECT_EQ(reply_to(target, "e", c), "+OK\r\n");
  EXPECT_EQ(destination.cli({"BF.CARD", "e"}), "0");
  ASSERT_EQ(from.cli({"EVERSEEN.RESERVE", "w", "0.001", "1000", "WINDOW", "3600000"}), "OK");
  EXPECT_EQ(from.cli({"BF.ADD", "w", "x"}), "1");
  for (const chunk& c : all_chunks(source, "w")) EXPECT_EQ(reply_to(target, "w", c), "+OK\r\n");
  EXPECT_EQ(destination.cli({"BF.EXISTS", "w", "x"}), "1");
  EXPECT_EQ(destination.cli({"BF.EXISTS", "w", "y"}), "0");
}

TEST(Chunks, MayArriveTwiceAndInAnyOrder) {
  for (const bool redisbloom : {false, true}) {
    const serving from("mem:",
                       redisbloom ? std::vector<std::string>{"--redisbloom"} : std::vector<std::string>{});
    const serving destination("mem:");
    raw_client source(from.path()), target(destination.path());
    ASSERT_EQ(source.ask(encoded({"BF.RESERVE", "f", "0.001", "1000"}), 5), "+OK\r\n");
    add_keys(source, "f", 0, 12'000);
    std::vector<chunk> chunks = all_chunks(source, "f");
    ASSERT_GE(chunks.size(), 4U);
    EXPECT_EQ(reply_to(target, "f", chunks[0]), "+OK\r\n");
    for (std::size_t i = chunks.size() - 1; i > 1; --i) {
      EXPECT_EQ(reply_to(target, "f", chunks[i]), "+OK\r\n");
      EXPECT_EQ(reply_to(target, "f", chunks[i]), "+OK\r\n");
    }
    EXPECT_EQ(destination.cli({"EXISTS", "f"}), "0");
    EXPECT_EQ(reply_to(target, "f", chunks[1]), "+OK\r\n");
    EXPECT_EQ(reply_to(target, "f", chunks[1]), "+OK\r\n") << "its answer may have been lost";
    expect_has_keys(target, "f", 0, 12'000);
    EXPECT_THAT(reply_to(target, "f", chunks[2]), StartsWith("-ERR"));
    EXPECT_EQ(destination.cli({"DEL", "f"}), "1");
    EXPECT_EQ(reply_to(target, "f", chunks[1]),
              "-ERR not found: the load begins with the header, the chunk of iterator 1\r\n");
  }
}

TEST(Chunks, DamagedChunksAreRefused) {
  const serving from("mem:"), destination("mem:");
  raw_client source(from.path()), target(destination.path());
  add_keys(source, "f", 0, 50);
  const std::vector<chunk> chunks = all_chunks(source, "f");
  ASSERT_EQ(chunks.size(), 2U);
  for (std::size_t i = 0; i < chunks[0].bytes.size(); ++i) {
    chunk damaged = chunks[0];
    damaged.bytes[i] = static_cast<char>(damaged.bytes[i] ^ 1);
    ASSERT_THAT(reply_to(target, "f", damaged), StartsWith("-ERR received bad data")) << i;
  }
  for (std::size_t i = 0; i < chunks[1].bytes.size(); ++i) {
    chunk damaged = chunks[1];
    damaged.bytes[i] = static_cast<char>(damaged.bytes[i] ^ 1);
    ASSERT_EQ(reply_to(target, "f", chunks[0]), "+OK\r\n");
    ASSERT_THAT(reply_to(target, "f", damaged), StartsWith("-")) << i;
  }
  for (std::size_t length = 0; length < chunks[0].bytes.size(); ++length)
    ASSERT_THAT(reply_to(target, "f", {1, chunks[0].bytes.substr(0, length)}), StartsWith("-")) << length;
  EXPECT_EQ(destination.cli({"EXISTS", "f"}), "0");
}

TEST(Chunks, OfOurOwnLayoutAreForAdministratorsOnly) {
  const serving server("mem:", {"--user", "writer:w:write", "--user", "boss:b:admin"});
  EXPECT_EQ(server.cli({"--user", "boss", "--pass", "b", "BF.ADD", "f", "x"}), "1");
  EXPECT_THAT(server.cli({"--user", "writer", "--pass", "w", "BF.SCANDUMP", "f", "0"}),
              StartsWith("NOPERM the chunks of a filter contain its secret seed"));
  EXPECT_THAT(server.cli({"--user", "boss", "--pass", "b", "BF.SCANDUMP", "f", "0"}), StartsWith("1\n"));
}

}  // namespace
}  // namespace everseen::test
