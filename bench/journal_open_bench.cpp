// Question: how long does a client that judges take to open a filter of 1 GB, and what does that add to
// reading the bytes?
//
// A real server over a Unix socket; a filter for 270 million keys, of which it has 30 million. Opening ends
// with the verdicts of the first batch, because only then are all partitions loaded: known keys must all be
// `seen`. Nearly all keys that were never added must be `fresh`; otherwise bits are set that nobody set.
//
// `vs_reading` is the time divided by that of reading the same strings by GETRANGE, in pages of the same
// length and with the same parallelism, and discarding them: measured before each opening, by the same kind
// of server_connections.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/filter/filter.hpp"
#include "everseen/redis/redis_store.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "bench/redis_server.hpp"
#include "bench/support.hpp"

namespace everseen::bench {
namespace {

constexpr std::size_t batch_keys = 50'000;  // a block of `dedup`
constexpr std::size_t keys_at_once = 1'000'000;
constexpr std::uint64_t additions = 30;

struct stored_string {
  std::string key;
  std::uint64_t bytes;
};

/// A server with one large filter. It is filled in memory and copied: through the journal that would take
/// minutes.
class large_filter {
 public:
  static large_filter& instance() {
    static large_filter one;
    return one;
  }

  [[nodiscard]] redis_server& server() noexcept { return server_; }
  [[nodiscard]] redis::redis_store store() const {
    return redis::redis_store(redis::parse_redis_url(server_.unix_url("?mirror=2Gi")));
  }
  /// Its segments.
  [[nodiscard]] const std::vector<stored_string>& strings() const noexcept { return strings_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  large_filter() {
    redis::redis_store place = store();
    const spec s = place.plan({.capacity = 270'000'000, .error_rate = 1e-6, .judge = judge_kind::client});
    memory_store memory;
    everseen::filter full("large", memory.create("large", s));
    for (std::uint64_t i = 0; i < additions; ++i) {
      std::vector<verdict> out(keys_at_once);
      require(full.add_digests(random_digests(keys_at_once, i), out).has_value(), "add");
    }
    const auto restored = place.begin_restore("large", s);
    for (std::uint32_t p = 0; p < s.partitions; ++p)
      full.stored().visit_segments(
          p, [&](const segment_id& id, const layer_state& layer, std::span<const std::byte> bits) {
            std::memcpy(restored->add_segment(id, layer).data(), bits.data(), bits.size());
          });
    restored->commit();
    find_strings();
  }

  void find_strings() {
    const redis::reply keys = server_.connections().ask({}, {"KEYS", "*"});
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::string key(keys[i].text());
      if (server_.connections().ask({}, {"TYPE", key}).text() != "string") continue;
      const auto bytes = static_cast<std::uint64_t>(server_.connections().ask({}, {"STRLEN", key}).integer());
      strings_.push_back({key, bytes});
      bytes_ += bytes;
    }
    require(bytes_ >= 1'000'000'000, "segments of " + std::to_string(bytes_) + " bytes");
  }

  redis_server server_{};
  std::vector<stored_string> strings_{};
  std::uint64_t bytes_ = 0;
};

void read_all(redis::server_connections& from, const std::vector<stored_string>& strings) {
  constexpr std::uint64_t page_bytes = std::uint64_t{1} << 20;
  constexpr std::size_t pages_at_once = 8;
  for (const stored_string& s : strings)
    for (std::uint64_t at = 0; at < s.bytes;) {
      std::vector<redis::request> pages;
      for (; at < s.bytes && pages.size() < pages_at_once; at += page_bytes)
        pages.push_back({{},
                         redis::encode({"GETRANGE", s.key, std::to_string(at),
                                        std::to_string(std::min(at + page_bytes, s.bytes) - 1)}),
                         1,
                         true});
      for (const redis::answer& a : from.exchange(pages)) require(a.has_value(), "GETRANGE");
    }
}

tally judge(everseen::filter& by, access how, std::uint64_t seed) {
  std::vector<verdict> out(batch_keys);
  auto keys = random_digests(batch_keys, seed);
  const batch_result got =
      how == access::write ? by.add_digests(keys, out) : by.may_contain_digests(keys, out);
  require(got.has_value(), got ? "" : got.error().message);
  return *got;
}

void open_1_GB(benchmark::State& state, access how) {
  large_filter& large = large_filter::instance();
  redis::server_connections reader(redis::parse_redis_url(large.server().unix_url()));
  double opening = 0, reading = 0, own = 0, redis = 0;
  for (auto _ : state) {
    reading += seconds([&] { read_all(reader, large.strings()); });
    redis::redis_store store = large.store();
    const double own_before = own_cpu_seconds();
    const double redis_before = large.server().cpu_seconds();
    std::optional<everseen::filter> opened;
    tally known;
    const double took = seconds([&] {
      opened.emplace("large", store.open("large", how));
      known = judge(*opened, how, additions / 2);
    });
    own += own_cpu_seconds() - own_before;
    redis += large.server().cpu_seconds() - redis_before;
    require(known.seen == batch_keys, "a key that was added is not seen");
    require(judge(*opened, access::read, additions + 1).seen <= 5, "keys that nobody added are seen");
    opening += took;
    state.SetIterationTime(took);
  }
  const auto times = static_cast<double>(state.iterations());
  state.counters["GB"] = static_cast<double>(large.bytes()) / 1e9;
  state.counters["client_cpu_s"] = own / times;
  state.counters["redis_cpu_s"] = redis / times;
  state.counters["reading_s"] = reading / times;
  state.counters["vs_reading"] = opening / reading;
}

BENCHMARK_CAPTURE(open_1_GB, to_look_up, access::read)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(open_1_GB, to_add, access::write)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace everseen::bench
