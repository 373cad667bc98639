// A filter on a server gives, key by key, the same verdicts as the same filter in memory, false positives
// included, and ends with the same bits.

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/store/memory/memory_store.hpp"

#include "test/redis/stored.hpp"

namespace everseen::redis {
namespace {

using namespace std::chrono_literals;
using test::random_digests;
using test::redis_server;

struct timed_batch {
  std::vector<digest> keys;
  std::vector<event_time> times;
};

struct judged {
  std::vector<verdict> verdicts;
  bool whole = false;
  tally sum;
  friend bool operator==(const judged&, const judged&) = default;
};

/// Each key with its own time, in one call.
template <typename Call>
judged judge(const spec& s, const timed_batch& b, Call call) {
  std::vector<timed_batch> parts(s.partitions);
  for (std::size_t i = 0; i < b.keys.size(); ++i) {
    timed_batch& part = parts[partition_of(b.keys[i], s.partitions)];
    part.keys.push_back(b.keys[i]);
    part.times.push_back(b.times[i]);
  }
  std::vector<std::vector<verdict>> out(s.partitions);
  std::vector<partition_batch> batches;
  for (std::uint32_t p = 0; p < s.partitions; ++p) {
    out[p].resize(parts[p].keys.size());
    if (!out[p].empty()) batches.push_back({p, parts[p].keys, parts[p].times, out[p]});
  }
  const batch_result result = call(batches);
  judged all{{}, result.has_value(), result ? *result : result.error().done};
  for (const auto& verdicts : out) all.verdicts.insert(all.verdicts.end(), verdicts.begin(), verdicts.end());
  return all;
}

std::vector<std::byte> bits_of(const stored_filter& f) {
  std::vector<std::byte> all;
  for (std::uint32_t p = 0; p < f.get_spec().partitions; ++p)
    f.visit_segments(
        p, [&](const auto&, const auto&, auto bits) { all.insert(all.end(), bits.begin(), bits.end()); });
  return all;
}

/// A stream determined by its seed: sizes, repetitions and times all derive from it.
class random_stream {
 public:
  explicit random_stream(std::uint64_t seed) : source_(seed) {}

  std::uint64_t below(std::uint64_t n) { return source_.word() % n; }

  timed_batch next(bool large) {
    timed_batch b;
    const std::uint64_t size = large ? 1'500 + below(2'000) : below(120);
    for (std::uint64_t i = 0; i < size; ++i) {
      const bool again = !all_.empty() && below(3) == 0;
      b.keys.push_back(again ? all_[below(all_.size())] : source_());
      all_.push_back(b.keys.back());
      b.times.push_back(event_time(std::chrono::milliseconds(
          now_ms_ - static_cast<std::int64_t>(below(below(20) == 0 ? 200'000 : 5'000)))));
      now_ms_ += static_cast<std::int64_t>(below(200));
    }
    return b;
  }

 private:
  random_digests source_;
  std::vector<digest> all_;
  std::int64_t now_ms_ = 1'000'000;
};

spec random_spec(const store& in, random_stream& random) {
  spec_request r;
  r.capacity = 20 + random.below(400);
  r.error_rate = std::vector{0.2, 0.01, 1e-6}[random.below(3)];
  r.growth = std::vector{growth_kind::grow, growth_kind::grow, growth_kind::refuse,
                         growth_kind::overfill}[random.below(4)];
  r.partitions = static_cast<std::uint32_t>(1 + random.below(4));
  if (random.below(2) == 0) r.window = window_spec{60s, static_cast<std::uint32_t>(1 + random.below(5))};
  // In a batch of mixed times, the false positives depend on the order of judging, which differs between
  // stores.
  if (r.window) r.error_rate = 1e-9;
  if (random.below(3) == 0) r.layout = all_layouts[random.below(std::size(all_layouts))];
  return planned(in, r);
}

// Promise: clients of servers that judge answer as one filter in memory (redis, Who judges).
TEST(Model, SeveralClientsInTurnAnswerLikeOneFilterInMemory) {
  redis_server server(test::with_module());
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_stream random(seed);
    const std::string name = "f" + std::to_string(seed);
    const auto store = store_at(server.url());
    const spec s = random_spec(*store, random);
    memory_store memory;
    const auto model = memory.create(name, s);
    const auto made = store->create(name, s);
    std::vector<std::shared_ptr<stored_filter>> clients;
    for (int i = 0; i < 3; ++i) clients.push_back(store_at(server.unix_url())->open(name, access::write));
    for (int step = 0; step < 20; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      // A large batch leaves its filter in many layers.
      const timed_batch b = random.next(random.below(36) == 0);
      stored_filter& client = *clients[random.below(clients.size())];
      if (random.below(4) == 0) {
        ASSERT_EQ(judge(s, b, [&](auto& all) { return client.check(all); }),
                  judge(s, b, [&](auto& all) { return model->check(all); }));
      }
      ASSERT_EQ(judge(s, b, [&](auto& all) { return client.add(all); }),
                judge(s, b, [&](auto& all) { return model->add(all); }));
    }
    for (std::uint32_t p = 0; p < s.partitions; ++p) EXPECT_EQ(made->state(p), model->state(p));
    EXPECT_EQ(bits_of(*made), bits_of(*model));
  }
}

}  // namespace
}  // namespace everseen::redis
