// Values with windows and partitions where something follows a server: replicas, the AOF, files, slots that
// move; and inside of what runs as a whole.

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/format/lane_record.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/wire/slot_map.hpp"

#include "test/module/value_server.hpp"
#include "test/support/places.hpp"
#include "test/support/torn_aof.hpp"

namespace everseen::redis_module {
namespace {

using namespace std::chrono_literals;
using test::random_digests;
using test::redis_cluster;
using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using command = std::vector<std::string>;

std::string digits(std::uint64_t number) {
  const std::string all = std::to_string(number);
  return std::string(20 - all.size(), '0') + all;
}

/// Random calls about a few values, of which some have windows and some are one of several partitions.
class random_calls {
 public:
  explicit random_calls(const redis_server& server) : server_(server) { make(); }

  std::vector<command> take(std::size_t count) {
    std::vector<command> all(count);
    for (command& each : all) each = next();
    return all;
  }

 private:
  void make() {
    stored_partition(server_, "v0", {.capacity = 50, .error_rate = 1e-3});
    stored_partition(server_, "v1", {.capacity = 400, .error_rate = 1e-3, .window = window_spec{10min, 5}});
    stored_partition(server_, "v2",
                     {.capacity = 9'000,
                      .error_rate = 1e-3,
                      .growth = growth_kind::refuse,
                      .window = window_spec{60min, 20},
                      .partitions = 3},
                     1);
    for (const std::string key : {"v0", "v1", "v2"}) server_.run({"HSET", key + ":ljob", "", "1"});
  }
  std::string digests(std::size_t count) {
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) {
      const digest d = random_digests(dice_() % 30'000)();
      bytes.append(reinterpret_cast<const char*>(&d), sizeof d);
    }
    return bytes;
  }
  std::string offsets(std::size_t count, bool has_window) {
    std::string all;
    for (std::size_t i = 0; has_window && dice_() % 2 == 0 && i < count; ++i)
      all += static_cast<char>(dice_() % 50 == 0 ? dice_() % 9 : dice_() % 2);
    return all.size() == count ? all : "";
  }
  command next() {
    const std::size_t value = dice_() % 3;
    const std::string key = "v" + std::to_string(value);
    ++calls_;
    const std::string slice = value == 0 ? "0" : std::to_string(1'000 + calls_ / 500 - dice_() % 4);
    const std::size_t count = 1 + dice_() % 40;
    switch (dice_() % 200) {
      case 0:
        return {"EVERSEEN.CLEAR", key, digits(dice_()).substr(12)};
      case 1:
        return {"EVERSEEN.EXTEND", key, slice};
      case 2:
        return {"COPY", key, "copy" + key, "REPLACE"};
      case 3:
        return {"EVERSEEN.SEAL", "copy" + key, "0123456789abcdef"};
      case 4:
        return {"DEL", key + ":t:c"};
      case 5:
      case 6:
        return {"EVERSEEN.MERGE", key, "copy" + key};
      default:
        break;
    }
    if (dice_() % 4 == 0) {
      std::string positions;
      for (std::size_t i = 0; i < count; ++i) append_position(positions, calls_ << 8 | i);
      // Half of them are of a lane that has no record yet.
      return {"EVERSEEN.CLAIMPACKED",
              key,
              key + ":ljob",
              dice_() % 2 == 0 ? "lane" : "lane" + std::to_string(calls_),
              "",
              "0",
              slice,
              digests(count),
              offsets(count, value != 0),
              "",
              positions,
              "1",
              std::string(4 * count, '\0'),
              "all"};
    }
    return {"EVERSEEN.ADDPACKED",
            key,
            key + ":t:c",
            slice,
            digits(dice_() % 50 == 0 ? calls_ / 2 : calls_),
            "900000",
            digests(count),
            offsets(count, value != 0)};
  }

  const redis_server& server_;
  std::mt19937 dice_{17};
  std::uint64_t calls_ = 0;
};

TEST(ValueFollowers, ReplicaHasTheSameValuesAfterRandomCalls) {
  const redis_server master(joined(test::with_module(), {"--repl-diskless-sync-delay", "0"}));
  const redis_server replica(
      joined(test::with_module(), {"--replicaof", "127.0.0.1", std::to_string(master.port())}));
  random_calls random(master);
  for (int round = 0; round < 6; ++round) {
    (void)test::raw_commands(master.unix_path(), random.take(4'000));
    must_become_equal(master, replica);
  }
  EXPECT_GT(std::stoll(field_of(master, "everseen", "everseen_growths")), 100);
  EXPECT_GT(std::stoll(field_of(master, "everseen", "everseen_seen")), 10'000);
}

TEST(ValueFollowers, AofRewrittenAofAndRdbHaveTheSameValues) {
  redis_server server(
      joined(joined(test::with_module(), test::with_aof()), {"--aof-use-rdb-preamble", "no"}));
  random_calls random(server);
  (void)test::raw_commands(server.unix_path(), random.take(6'000));
  const std::string before = content(server);
  server.kill();
  server.start();
  EXPECT_EQ(content(server), before) << "the calls";
  EXPECT_THAT(server.run({"BGREWRITEAOF"}), HasSubstr("rewriting started"));
  test::wait_until(
      [&] {
        return field_of(server, "persistence", "aof_rewrite_in_progress") == "0" &&
               field_of(server, "persistence", "aof_rewrite_scheduled") == "0";
      },
      "the AOF is rewritten");
  EXPECT_EQ(field_of(server, "persistence", "aof_last_bgrewrite_status"), "ok");
  server.kill();
  server.start();
  EXPECT_EQ(content(server), before) << "chunks";
  server.run({"DEBUG", "RELOAD"});
  EXPECT_EQ(content(server), before) << "an RDB";
}

TEST(ValueFollowers, DumpedAndRestoredValueIsTheSame) {
  const redis_server server(test::with_module());
  stored_partition value(
      server, "v",
      {.capacity = 100, .error_rate = never_wrong, .window = window_spec{10min, 5}, .partitions = 2}, 1);
  random_digests random(3);
  const packed_keys keys{value.take(random, 500), 100};
  value.add(keys);
  value.run({"EVERSEEN.SEAL", "v", "0123456789abcdef"});
  const std::string image = value.run({"DUMP", "v"});
  EXPECT_EQ(value.run({"RESTORE", "w", "0", image}), "OK");
  const auto digest_of = [&](const std::string& key) { return value.run({"DEBUG", "DIGEST-VALUE", key}); };
  EXPECT_EQ(digest_of("w"), digest_of("v"));
  EXPECT_EQ(value.run({"EVERSEEN.STATE", "w"}), value.run({"EVERSEEN.STATE", "v"}));
  EXPECT_EQ(value.run({"EVERSEEN.CHECKPACKED", "w", "100", keys.bytes()}),
            std::string(500, '1') + "0123456789abcdef");
}

TEST(ValueFollowers, BatchesInMultiAndLuaAreReplicatedAsAWhole) {
  const redis_server master(joined(test::with_module(), {"--repl-diskless-sync-delay", "0"}));
  const redis_server replica(
      joined(test::with_module(), {"--replicaof", "127.0.0.1", std::to_string(master.port())}));
  stored_partition value(master, "v", {.capacity = 100, .error_rate = never_wrong});
  random_digests random(4);
  const packed_keys first{random.take(200)}, second{random.take(200)};
  const std::vector<command> whole = {{"MULTI"},
                                      value.adding(first, 1),
                                      value.adding(first, 2),
                                      {"EVERSEEN.SEAL", "v", "0123456789abcdef"},
                                      value.adding(second, 3),
                                      {"EXEC"}};
  EXPECT_EQ(test::raw_commands(master.unix_path(), whole).back(),
            std::string(200, '0') + '\n' + std::string(200, '1') +
                "\nOK\n-SEALED 30313233343536373839616263646566");
  stored_partition other(master, "w", {.capacity = 100, .error_rate = never_wrong});
  const command add = other.adding(second, 1);
  command script = {"EVAL",
                    "return {redis.call(unpack(ARGV)), redis.call(unpack(ARGV)), "
                    "redis.pcall('EVERSEEN.STATE', 'absent').err ~= nil}",
                    "2", "w", "w:t:me"};
  script.insert(script.end(), add.begin(), add.end());
  EXPECT_EQ(other.run(script), std::string(200, '0') + '\n' + std::string(200, '0') + "\n1");
  const std::vector<command> watching = {
      {"WATCH", "w"}, other.adding(first, 2), {"MULTI"}, {"PING"}, {"EXEC"}};
  EXPECT_EQ(test::raw_commands(master.unix_path(), watching).back(), "(nil)");
  must_become_equal(master, replica);
}

TEST(ValueFollowers, TimeTooFarAheadIsRefusedUnlessItWasTakenBefore) {
  redis_server server(joined(test::with_module(), test::with_aof()));
  stored_partition value(server, "v",
                         {.capacity = 100, .error_rate = never_wrong, .window = window_spec{1h, 5}});
  const auto current = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const window::slice_index slice = window::slice_at(*value.get_spec().window, event_time(current));
  random_digests random(5);
  EXPECT_THAT(value.add({random.take(1), slice + 2}), StartsWith("-ERR the time is too far ahead"));
  EXPECT_THAT(value.check({random.take(1), slice + 2}), StartsWith("-ERR the time is too far ahead"));
  EXPECT_EQ(value.add({random.take(1), slice + 1}), "0");
  EXPECT_THAT(value.run({"EVERSEEN.EXTEND", "v", std::to_string(slice + 2)}),
              StartsWith("-ERR the time is too far ahead"));
  // As if the clock of this server had been ahead when it took them.
  const packed_keys later{random.take(3), slice + 20};
  test::torn_aof aof(server);
  std::string all = aof.bytes();
  const command words = value.adding(later, 7);
  all += "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) all += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  aof.end_with(all, all.size());
  EXPECT_EQ(value.state().segments.back().id.slice, slice + 20);
  EXPECT_EQ(value.state().segments.back().layer.keys, 3U);
}

// With an error reply, which nobody sees, it would go on without the keys.
TEST(ValueFollowers, ServerThatLacksMemoryForWhatItsAofHasEnds) {
  redis_server server(joined(test::with_module(), test::with_aof()));
  const stored_partition value(server, "v", {.capacity = 100, .error_rate = never_wrong});
  announced_filter larger_than_memory{make_spec({.capacity = std::uint64_t{1} << 46, .partitions = 1})};
  const growth::layer_plan plan = growth::plan_layer(larger_than_memory.spec, 0);
  larger_than_memory.segments.push_back({{0, window::timeless, 0}, {plan.shape, plan.capacity, 0}});
  const std::vector<std::byte> bytes = image::encode_chunk_header(larger_than_memory);
  const command load = {"EVERSEEN.LOADCHUNK", "large", "1",
                        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
  EXPECT_THAT(value.run(load), StartsWith("-ERR the server has not")) << "a new call is refused";
  test::torn_aof aof(server);
  std::string all = aof.bytes() + "*4\r\n";
  for (const std::string& word : load) all += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  try {
    aof.end_with(all, all.size());
    FAIL() << "it started";
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("out of memory for a filter"));
  }
}

// Promise: a call that needs more memory than maxmemory leaves changes nothing (module, Packed commands).
TEST(ValueMemory, CallWithoutRoomChangesNothing) {
  const redis_server server(test::with_module());
  stored_partition value(server, "v",
                         {.capacity = 50'000'000, .error_rate = 1e-4, .window = window_spec{10min, 5}});
  random_digests random(6);
  ASSERT_EQ(value.add({random.take(2), 100}), "00");
  server.run({"HSET", "v:ljob", "", "1"});
  server.run({"CONFIG", "SET", "maxmemory",
              std::to_string(std::stoll(field_of(server, "memory", "used_memory")) + 3'000'000)});
  const std::string before = content(server);
  const std::string positions(8, '\1');
  EXPECT_THAT(value.add({random.take(2), 101}), StartsWith("-OOM"));
  EXPECT_THAT(value.run({"EVERSEEN.EXTEND", "v", "101"}), StartsWith("-OOM"));
  const std::string one(16, 'x');
  EXPECT_THAT(value.run({"EVERSEEN.CLAIMPACKED", "v", "v:ljob", "lane", "", "0", "101", one, "", "",
                         positions, "0", ""}),
              StartsWith("-OOM"));
  stored_partition copy(server, "w", {.capacity = 10});
  EXPECT_EQ(server.run({"DEL", "w"}), "1");
  EXPECT_EQ(content(server), before);
  EXPECT_EQ(value.add({random.take(2), 100}), "00") << "there is room in this slice";
}

/// Asks where the key is, as a client of a cluster does.
std::string run_at(redis_cluster& cluster, std::size_t& node, const command& words) {
  for (bool asks = false;;) {
    std::vector<command> all = {words};
    if (asks) all.insert(all.begin(), {"ASKING"});
    const std::string reply = test::raw_commands(cluster.node(node).unix_path(), all).back();
    asks = reply.starts_with("-ASK ");
    if (reply.starts_with("-TRYAGAIN")) continue;
    if (!asks && !reply.starts_with("-MOVED ")) return reply;
    for (std::size_t i = 0; i < redis_cluster::masters; ++i)
      if (reply.ends_with(cluster.node(i).address())) node = i;
  }
}

TEST(ValueCluster, SlotMovesWhileClientsAddAndNoKeyIsLostOrFreshTwice) {
  redis_cluster cluster(redis_cluster::replicas::none, test::with_module());
  const std::string key = "p:{a/1}";
  const unsigned slot = redis::slot_of(key);
  std::size_t from = slot * redis_cluster::masters / redis_cluster::slots;
  stored_partition value(cluster.node(from), key,
                         {.capacity = 400, .error_rate = never_wrong, .partitions = 2}, 1);
  ASSERT_EQ(value.made(), "OK");
  std::atomic<bool> moved{false};
  std::array<std::vector<digest>, 2> added;
  std::vector<std::thread> clients;
  for (std::size_t c = 0; c < added.size(); ++c)
    clients.emplace_back([&, c] {
      random_digests random(40 + c);
      std::size_t node = 0;
      for (std::uint64_t i = 1; !moved || i < 100; ++i) {
        const packed_keys keys{value.take(random, 10)};
        command words = value.adding(keys, i);
        words[2] += std::to_string(c);
        EXPECT_EQ(run_at(cluster, node, words), "0000000000");
        EXPECT_EQ(run_at(cluster, node, words), "0000000000") << "under the same sequence";
        added[c].insert(added[c].end(), keys.digests.begin(), keys.digests.end());
      }
    });
  for (int round = 0; round < 3; ++round) {
    const std::size_t target = (from + 1) % redis_cluster::masters;
    cluster.begin_to_move(slot, from, target);
    cluster.move_keys(slot, from, target);
    cluster.finish_to_move(slot, target);
    from = target;
  }
  moved = true;
  for (std::thread& each : clients) each.join();
  for (const auto& each : added) {
    const packed_keys keys{each};
    std::size_t node = from;
    EXPECT_EQ(run_at(cluster, node, {"EVERSEEN.CHECKPACKED", key, "0", keys.bytes()}),
              std::string(each.size(), '1'));
  }
  command crossing = value.adding({{}}, 1);
  crossing[2] = "elsewhere";
  EXPECT_THAT(cluster.node(from).run({"EVERSEEN.ADDPACKED", key, "elsewhere", "0", digits(1), "1", ""}),
              AnyOf(StartsWith("-CROSSSLOT"), StartsWith("-ERR")));
}

class BadPackedInput : public testing::Test {
 protected:
  BadPackedInput() {
    random_digests random(7);
    value_.add({random.take(50)});
    windowed_.add({random.take(50), 100});
    before_ = content(server_);
  }
  std::string with(command words, std::size_t index, const std::string& word) const {
    words[index] = word;
    return value_.run(words);
  }

  redis_server server_{test::with_module()};
  stored_partition value_{server_, "v", {.capacity = 1'000, .error_rate = never_wrong}};
  stored_partition windowed_{
      server_, "w", {.capacity = 1'000, .error_rate = never_wrong, .window = window_spec{10min, 5}}};
  std::string before_;
};

TEST_F(BadPackedInput, InvalidWordsAreRefused) {
  random_digests random(8);
  const packed_keys keys{random.take(2)};
  const command add = value_.adding(keys, 9), check = {"EVERSEEN.CHECKPACKED", "v", "0", keys.bytes(), ""};
  server_.run({"SET", "s", "text"});
  server_.run({"HSET", "v:t:hash", "a", "b"});
  before_ = content(server_);
  EXPECT_THAT(with(add, 1, "s"), StartsWith("-ERR the token"));
  EXPECT_THAT(with(check, 1, "s"), StartsWith("-WRONGTYPE"));
  EXPECT_THAT(with(add, 2, "v:t:hash"), StartsWith("-WRONGTYPE"));
  EXPECT_THAT(with(add, 2, "w:t:me"), StartsWith("-ERR the token"));
  for (const char* word : {"", "x", "1 ", "9223372036854775807", "9223372036854775808"}) {
    EXPECT_THAT(with(add, 3, word), StartsWith("-ERR"));
    EXPECT_THAT(with(check, 2, word), StartsWith("-ERR"));
    EXPECT_THAT(value_.run({"EVERSEEN.EXTEND", "w", word}), StartsWith("-ERR"));
  }
  EXPECT_THAT(with(add, 3, "1"), StartsWith("-ERR the filter has no window"));
  for (const char* word : {"", "1", "000000000000000000001", "0000000000000000000x"})
    EXPECT_THAT(with(add, 4, word), StartsWith("-ERR a sequence"));
  for (const char* word : {"0", "-1", "x", "31622400001"})
    EXPECT_THAT(with(add, 5, word), StartsWith("-ERR the life"));
  EXPECT_THAT(with(add, 6, keys.bytes().substr(1)), StartsWith("-ERR digests"));
  EXPECT_THAT(with(add, 6, std::string(16 * 65'537, 'x')), StartsWith("-ERR more than 65536"));
  for (const std::string& offsets : {std::string("a"), std::string("abc")}) {
    EXPECT_THAT(with(add, 7, offsets), StartsWith("-ERR offsets"));
    EXPECT_THAT(with(check, 4, offsets), StartsWith("-ERR offsets"));
  }
  EXPECT_THAT(with(add, 7, std::string("\0\1", 2)), StartsWith("-ERR the filter has no window"));
  for (const char* slice : {"9223372036854775000", "-9223372036854775808"})
    EXPECT_THAT(value_.run({"EVERSEEN.CHECKPACKED", "w", slice, keys.bytes()}), StartsWith("-ERR no time"));
  EXPECT_THAT(value_.run({"EVERSEEN.EXTEND", "v", "0"}), StartsWith("-ERR the filter has no window"));
  for (const char* id : {"", "0123456789abcde", "0123456789abcdefg"})
    EXPECT_THAT(value_.run({"EVERSEEN.SEAL", "v", id}), StartsWith("-ERR a successor"));
  EXPECT_THAT(value_.run({"EVERSEEN.SEAL", "v", std::string(16, '\0')}), StartsWith("-ERR a successor"));
  for (const char* copy : {"", "1234567", "123456789"})
    EXPECT_THAT(value_.run({"EVERSEEN.CLEAR", "v", copy}), StartsWith("-ERR a content"));
  for (const command& words : std::vector<command>{{"v", "x", "0", "0", "1"},
                                                   {"v", "0", "-1", "0", "1"},
                                                   {"v", "0", "0", "-1", "1"},
                                                   {"v", "0", "0", "0", "4194305"}})
    EXPECT_THAT(value_.run(joined({"EVERSEEN.READ"}, words)), StartsWith("-ERR"));
  for (const char* name :
       {"ADDPACKED", "CHECKPACKED", "STATE", "READ", "SEAL", "CLEAR", "EXTEND", "LOADCHUNK"})
    EXPECT_THAT(value_.run({std::string("EVERSEEN.") + name}), StartsWith("-ERR wrong number"));
  EXPECT_THAT(value_.run({"EVERSEEN.LOADCHUNK", "n", "x", value_.header()}), StartsWith("-ERR the iterator"));
  EXPECT_EQ(content(server_), before_);
  EXPECT_EQ(value_.run(add), "00");
}

TEST_F(BadPackedInput, HeaderThatIsDamagedOrOfNoSuchValueMakesNone) {
  const std::string header = windowed_.run({"BF.SCANDUMP", "w", "0"}).substr(2);
  const auto load = [&](const std::string& bytes) {
    return value_.run({"EVERSEEN.LOADCHUNK", "n", "1", bytes});
  };
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::string damaged = header;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_THAT(load(damaged), StartsWith("-ERR")) << i;
    EXPECT_THAT(load(header.substr(0, i)), StartsWith("-ERR")) << i;
  }
  const announced_filter real = image::decode_chunk_header(std::as_bytes(std::span(header)));
  const auto changed = [&](auto change) {
    announced_filter f = real;
    change(f);
    const std::vector<std::byte> bytes = image::encode_chunk_header(f);
    return load({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  EXPECT_THAT(changed([](auto& f) { f.partition = f.spec.partitions; }), HasSubstr("partition"));
  EXPECT_THAT(changed([](auto& f) { f.spec.capacity *= 3, f.spec.partitions = 2, f.partition = 1; }),
              HasSubstr("another partition"));
  EXPECT_THAT(changed([](auto& f) {
                f.segments.push_back(f.segments[0]);
                f.segments[1].id.slice += 6;
              }),
              HasSubstr("window has left"));
  EXPECT_THAT(changed([](auto& f) { f.segments[0].id.slice = std::int64_t{1} << 60; }),
              HasSubstr("without any time"));
  EXPECT_EQ(server_.run({"EXISTS", "n"}), "0");
  EXPECT_EQ(changed([](auto&) {}), "OK");
}

// RedisBloom itself may own BF.* and its type here; then this module has no type for such a value.
TEST_F(BadPackedInput, HeaderOfRedisBloomMakesNoValue) {
  const redis_server theirs(with_redisbloom_layout());
  theirs.run({"BF.RESERVE", "f", "0.01", "100"});
  const std::string header = theirs.run({"BF.SCANDUMP", "f", "0"}).substr(2);
  EXPECT_THAT(value_.run({"EVERSEEN.LOADCHUNK", "n", "1", header}), StartsWith("-ERR not the header"));
  const redis_server beside(joined({"--loadmodule", test::owning_module()}, test::with_module()));
  const command load = {"EVERSEEN.LOADCHUNK", "n", "1", header};
  EXPECT_THAT(test::raw_command(beside.unix_path(), load), StartsWith("-ERR not the header"));
  EXPECT_EQ(beside.run({"EXISTS", "n"}), "0");
}

TEST_F(BadPackedInput, RandomWordsNeverEndTheServer) {
  std::mt19937_64 random(9);
  random_digests digests(10);
  const packed_keys keys{digests.take(20), 100};
  const std::string header = windowed_.run({"BF.SCANDUMP", "w", "0"}).substr(2);
  const std::vector<command> all = {value_.adding({keys.digests}, 5),
                                    windowed_.adding(keys, 5),
                                    {"EVERSEEN.CHECKPACKED", "w", "100", keys.bytes(), std::string(20, '\3')},
                                    {"EVERSEEN.READ", "v", "0", "0", "0", "100"},
                                    {"EVERSEEN.EXTEND", "w", "101"},
                                    {"EVERSEEN.LOADCHUNK", "n", "1", header},
                                    {"EVERSEEN.EXPLAIN", "w", "item"},
                                    {"EVERSEEN.CLAIMPACKED", "v", "v:lj", "a", "", "0", "0", keys.bytes(), "",
                                     "", std::string(160, '\1'), "0", ""},
                                    {"EVERSEEN.STATE", "v"},
                                    {"EVERSEEN.CLEAR", "n", "12345678"},
                                    {"EVERSEEN.SEAL", "n", "0123456789abcdef"}};
  const std::vector<std::string> odd = {"v",      "w",          "n",    "",
                                        "0",      "99",         "-1",   "9223372036854775807",
                                        "v:t:me", keys.bytes(), header, std::string(20, '\xff'),
                                        "x"};
  for (int i = 0; i < 20'000; ++i) {
    command words = all[random() % all.size()];
    for (std::size_t changes = random() % 3; changes > 0; --changes)
      words[1 + random() % (words.size() - 1)] = odd[random() % odd.size()];
    (void)value_.run(words);
  }
  EXPECT_EQ(server_.run({"PING"}), "PONG");
  server_.run({"DEBUG", "RELOAD"});
  EXPECT_EQ(server_.run({"PING"}), "PONG");
}

}  // namespace
}  // namespace everseen::redis_module
