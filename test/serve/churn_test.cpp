// Many clients concurrently create, fill, rename, end, load and drop the same few filters. Under
// ThreadSanitizer, this test shows any use of a filter after its end.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/filter/filter_chunks.hpp"
#include "everseen/foreign/foreign_file.hpp"
#include "everseen/open_store.hpp"
#include "everseen/serve/server.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/serve/raw_client.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::serve {
namespace {

using test::encoded;
using test::raw_client;
using test::scratch_directory;
using words = std::vector<std::string>;

/// A server in this process, on a Unix socket.
class served {
 public:
  explicit served(const std::string& store) {
    options o;
    o.listen = {parse_listen_address("unix:" + path())};
    o.threads = 3;
    o.store_threads = 4;
    server_ = std::make_unique<filter_server>(o, open_store(store));
    thread_ = std::jthread(
        [this](const std::stop_token& end) { server_->run_until([&] { return end.stop_requested(); }); });
  }
  [[nodiscard]] std::string path() const { return (directory_.path() / "s").string(); }

 private:
  scratch_directory directory_{};
  std::unique_ptr<filter_server> server_;
  std::jthread thread_;
};

/// The chunks of a filter of RedisBloom with some keys.
std::vector<filter_chunk> some_chunks() {
  memory_store place;
  spec_request r;
  r.layout = layout_kind::redisbloom;
  filter source("f", place.create("f", place.plan(r)));
  for (int i = 0; i < 50; ++i) (void)source.add(std::to_string(i));
  std::vector<filter_chunk> all;
  for (auto c = dump_chunk(source, 0); c.iterator != 0; c = dump_chunk(source, c.iterator)) all.push_back(c);
  return all;
}

/// Whether a client may get this reply to such a request while others do anything.
bool is_allowed(const words& request, std::string_view reply) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> all) {
    return std::ranges::any_of(all, [&](std::string_view each) { return reply == each; });
  };
  const std::string& command = request[0];
  if (command == "BF.ADD")  // to a filter that expires after it was found and before it answers
    return is_one_of({":0", ":1", "-OUTAGE the filter has expired; create another one"});
  if (command == "DEL" || command == "PEXPIRE") return is_one_of({":0", ":1"});
  if (command == "FLUSHALL") return reply == "+OK";
  if (command == "RENAME") return is_one_of({"+OK", "-ERR no such key"});
  return is_one_of({"+OK", "-ERR item exists", "-ERR not found",
                    "-ERR not found: the load begins with the header, the chunk of iterator 1",
                    "-ERR received bad data: the key exists; drop it, or load under another key"});
}

/// Replies that clients must not get.
class complaints {
 public:
  void add(const words& request, const std::string& reply) {
    const std::scoped_lock alone(lock_);
    if (all_.size() < 20) all_.push_back(request[0] + " " + request.back().substr(0, 20) + ": " + reply);
  }
  [[nodiscard]] std::vector<std::string> all() const { return all_; }

 private:
  std::mutex lock_{};
  std::vector<std::string> all_{};
};

/// Sends the requests that a function names for 0, 1, 2, …, each after the answer to the previous one.
class client_threads {
 public:
  client_threads(std::string path, complaints& told) : path_(std::move(path)), told_(told) {}

  void add(int rounds, std::function<words(int)> next) {
    threads_.emplace_back([this, rounds, next = std::move(next)] {
      raw_client client(path_);
      for (int i = 0; i < rounds; ++i) {
        const words request = next(i);
        client.send(encoded(request));
        const std::string reply = client.receive_line();
        if (!is_allowed(request, reply)) told_.add(request, reply);
        if (reply.empty()) return;
      }
    });
  }
  void finish() { threads_.clear(); }

 private:
  const std::string path_;
  complaints& told_;
  std::vector<std::jthread> threads_{};
};

/// The filters that clients contend for.
std::string contested(int i) {
  return i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c";
}

void disturb(client_threads& clients, int rounds) {
  for (int n = 0; n < 4; ++n)
    clients.add(rounds, [n](int i) { return words{"BF.ADD", contested(i / 7 + n), std::to_string(i)}; });
  for (int n = 0; n < 2; ++n) clients.add(rounds, [n](int i) { return words{"DEL", contested(i + n)}; });
  clients.add(rounds, [](int i) { return words{"RENAME", contested(i), contested(i + 1)}; });
  clients.add(rounds, [](int i) { return words{"PEXPIRE", contested(i), i % 2 == 0 ? "1" : "30"}; });
  clients.add(rounds, [chunks = some_chunks()](int i) {
    const filter_chunk& c = chunks[static_cast<std::size_t>(i) % chunks.size()];
    const std::string bytes(reinterpret_cast<const char*>(c.bytes.data()), c.bytes.size());
    const auto round = i / static_cast<int>(chunks.size());
    return words{"BF.LOADCHUNK", contested(round), std::to_string(c.iterator), bytes};
  });
}

struct place {
  std::string name;
  std::string prefix;  ///< of the store's URL
  std::string suffix;
  int rounds;
};

class Churn : public ::testing::TestWithParam<place> {
 protected:
  [[nodiscard]] std::string url() const {
    const place& p = GetParam();
    return p.prefix == "mem:" ? p.prefix : p.prefix + files_.path().string() + p.suffix;
  }

 private:
  scratch_directory files_{};
};

TEST_P(Churn, OfOneKeyNeverEndsTheServer) {
  const served server(url());
  complaints told;
  client_threads clients(server.path(), told);
  const int rounds = 4 * GetParam().rounds;
  for (int n = 0; n < 4; ++n) clients.add(rounds, [](int) { return words{"BF.ADD", "k", "x"}; });
  for (int n = 0; n < 2; ++n) clients.add(rounds, [](int) { return words{"DEL", "k"}; });
  clients.finish();
  EXPECT_THAT(told.all(), ::testing::IsEmpty());
}

TEST_P(Churn, OfSomeFiltersLosesNoKeyOfAnother) {
  const int rounds = GetParam().rounds;
  std::atomic<int> lost = 0;
  const auto ask = [&](const served& server) {
    raw_client client(server.path());
    for (int i = 0; i < rounds; ++i)
      if (client.ask(encoded({"BF.EXISTS", "calm", std::to_string(i)}), 4) != ":1\r\n") ++lost;
  };
  complaints told;
  {
    const served server(url());
    client_threads clients(server.path(), told);
    disturb(clients, rounds);
    clients.add(rounds, [](int i) { return words{"BF.ADD", "calm", std::to_string(i)}; });
    clients.finish();
    ask(server);
  }
  EXPECT_THAT(told.all(), ::testing::IsEmpty());
  if (url() != "mem:") ask(served(url()));
  EXPECT_EQ(lost, 0);
}

TEST_P(Churn, LeavesNothingThatFlushallCouldNotDrop) {
  const served server(url());
  complaints told;
  client_threads clients(server.path(), told);
  disturb(clients, GetParam().rounds);
  clients.add(GetParam().rounds / 10, [](int) { return words{"FLUSHALL"}; });
  clients.finish();
  EXPECT_THAT(told.all(), ::testing::IsEmpty());
  raw_client last(server.path());
  EXPECT_EQ(last.ask(encoded({"FLUSHALL"}), 5), "+OK\r\n");
  EXPECT_EQ(last.ask(encoded({"DBSIZE"}), 4), ":0\r\n");
}

INSTANTIATE_TEST_SUITE_P(, Churn,
                         ::testing::Values(place{"memory", "mem:", "", 500}, place{"files", "file:", "", 60},
                                           place{"synced_files", "file:", "?sync=always", 60}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace everseen::serve
