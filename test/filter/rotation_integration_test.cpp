// A window that moves by a slice each second, for hours of event time: each verdict is that of an exact
// model, and nothing grows. The soak has the 86,400 rotations of a day.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "everseen/everseen.hpp"

#include "test/support/places.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/sanitizer.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;
using second = std::int64_t;  // since 1970, which is also the number of its slice

constexpr std::uint32_t slices = 30;
constexpr std::uint32_t partitions = 4;
constexpr std::size_t new_keys = 16, repeats = 8, redeliveries = 8;  // in a second

/// The verdicts of a filter without false positives.
class exact_window {
 public:
  explicit exact_window(const hasher& hash) : hash_(hash) {}

  verdict add(const std::string& key, second time) {
    std::optional<second>& newest = newest_[partition_of(hash_(key), partitions)];
    if (newest && time < *newest - slices) return verdict::late;
    newest = std::max(newest.value_or(time), time);
    const auto [found, is_new] = added_.try_emplace(key, time);
    if (is_new) by_age_.emplace(time, key);
    if (!is_new && found->second >= *newest - slices) return verdict::seen;
    if (!is_new) found->second = time, by_age_.emplace(time, key);
    return verdict::fresh;
  }

  [[nodiscard]] verdict check(const std::string& key, second time) const {
    const std::optional<second>& newest = newest_[partition_of(hash_(key), partitions)];
    const second oldest = std::max(newest.value_or(time), time) - slices;
    if (time < oldest) return verdict::late;
    const auto found = added_.find(key);
    return found != added_.end() && found->second >= oldest ? verdict::seen : verdict::fresh;
  }

  /// No partition is as far behind as this, and no key that expired before will be asked about.
  void forget_before(second oldest) {
    for (auto i = by_age_.begin(); i != by_age_.end() && i->first < oldest; i = by_age_.erase(i))
      if (const auto found = added_.find(i->second); found != added_.end() && found->second == i->first)
        added_.erase(found);
  }

 private:
  hasher hash_;
  std::optional<second> newest_[partitions] = {};
  std::unordered_map<std::string, second> added_{};
  std::multimap<second, std::string> by_age_{};
};

/// What must not grow, by name.
using sizes = std::map<std::string, std::uint64_t>;

/// Where a filter is, and what it takes there.
class place {
 public:
  virtual ~place() = default;
  [[nodiscard]] virtual std::string url() const = 0;
  virtual void measure(sizes& /*all*/) const {}
  /// What it may take that few rotations do not show.
  [[nodiscard]] virtual sizes later() const { return {}; }
  judge_kind judge = judge_kind::server;
};

class memory_place final : public place {
 public:
  [[nodiscard]] std::string url() const override { return "mem:"; }
};

class file_place final : public place {
 public:
  [[nodiscard]] std::string url() const override { return "file:" + directory_.path().string(); }
  void measure(sizes& all) const override {
    for (const auto& each : std::filesystem::recursive_directory_iterator(directory_.path())) {
      ++all["files"];
      if (each.is_regular_file()) all["bytes of files"] += each.file_size();
    }
  }

 private:
  test::scratch_directory directory_{};
};

class redis_place final : public place {
 public:
  explicit redis_place(judge_kind j)
      : server_(j == judge_kind::server ? test::with_module() : std::vector<std::string>()) {
    judge = j;
  }
  [[nodiscard]] std::string url() const override { return server_.unix_url(); }
  void measure(sizes& all) const override {
    all["keys of the server"] = std::stoull(server_.run({"DBSIZE"}));
    const std::string text = server_.run({"INFO", "memory"});
    constexpr std::string_view name = "used_memory:";
    all["memory of the server"] = std::stoull(text.substr(text.find(name) + name.size()));
  }
  /// A journal begins anew when it is longer than 1 MiB, but in the same chunk, of 4 MiB, for which Redis
  /// takes 5; up to 2 of the next one may be there, too. From then on there are segments on the server, with
  /// a second layer in some slices, and staged ones.
  [[nodiscard]] sizes later() const override {
    if (judge == judge_kind::server) return {};
    return {{"keys of the server", 3 * partitions * slices},
            {"memory of the server", (2 + 7 * partitions) << 20}};
  }

 private:
  test::redis_server server_;
};

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// A stream of events, each a second after the one before, into one filter; and a second client of it.
class stream {
 public:
  explicit stream(const place& on, second begin)
      : place_(on),
        newest_(begin),
        store_(open_store(on.url())),
        filter_(open_or_create(*store_, "w",
                               {.capacity = slices * 2 * new_keys,
                                .error_rate = 1e-12,
                                .window = window_spec{std::chrono::seconds(slices), slices},
                                .partitions = partitions,
                                .judge = on.judge})),
        other_store_(on.url() == "mem:" ? store_ : open_store(on.url())),
        reader_(open(*other_store_, "w", access::read)),
        model_(filter_.hash()) {}

  /// The events of the next second.
  void go_on() {
    ++newest_;
    std::vector<std::pair<std::string, second>> events;
    for (std::size_t i = 0; i < new_keys; ++i) {
      events.emplace_back("key " + std::to_string(made_), newest_);
      recent_.emplace_back("key " + std::to_string(made_++), newest_);
    }
    for (std::size_t i = 0; i < repeats; ++i) events.emplace_back(any_recent().first, newest_);
    for (std::size_t i = 0; i < redeliveries; ++i) events.push_back(any_recent());
    std::shuffle(events.begin(), events.end(), random_);
    const auto got =
        ask(events, [&](auto& keys, auto& out, auto& times) { return filter_.add(keys, out, times); });
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto& [key, time] = events[i];
      ASSERT_EQ(got[i], model_.add(key, time)) << key << " of " << time - newest_ << " s";
    }
    look_up();
    model_.forget_before(newest_ - 10 * slices);
    while (recent_.front().second < newest_ - 2 * slices) recent_.pop_front();
  }

  [[nodiscard]] sizes measured() const {
    const filter_info info = filter_.info();
    sizes all;
    place_.measure(all);
    all["segments"] = info.segments;
    all["bytes of segments"] = info.bytes;
    all["keys"] = info.keys;
    all["memory of this process"] = resident_bytes();
    for (const partition_state& each : info.partitions) EXPECT_LE(each.slices.size(), slices + 1);
    return all;
  }

 private:
  template <typename Call>
  std::vector<verdict> ask(const std::vector<std::pair<std::string, second>>& events, Call call) {
    std::vector<std::string_view> keys;
    std::vector<event_time> times;
    for (const auto& [key, time] : events) {
      keys.emplace_back(key);
      times.emplace_back(std::chrono::seconds(time) + std::chrono::milliseconds(random_() % 1000));
    }
    std::vector<verdict> verdicts(keys.size());
    const batch_result done = call(keys, verdicts, times);
    EXPECT_TRUE(done) << done.error().message;
    return verdicts;
  }

  void look_up() {
    std::vector<std::pair<std::string, second>> events;
    for (int i = 0; i < 6; ++i) events.emplace_back(any_recent().first, newest_);
    for (int i = 0; i < 2; ++i) events.push_back(any_recent());
    events.emplace_back("nobody's " + std::to_string(made_), newest_);
    const auto look = [&](const filter& f) {
      return ask(events, [&](auto& keys, auto& out, auto& times) { return f.may_contain(keys, out, times); });
    };
    const auto got = look(filter_), elsewhere = look(reader_);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto& [key, time] = events[i];
      const verdict exact = model_.check(key, time);
      ASSERT_EQ(got[i], exact) << key << " of " << time - newest_ << " s";
      // Another client that judges may not know for a second that the window has moved.
      if (place_.judge == judge_kind::client && exact != verdict::seen && !key.starts_with("nobody"))
        continue;
      ASSERT_EQ(elsewhere[i], exact) << key << " of " << time - newest_ << " s, by another client";
    }
  }

  /// From this window or the one before it.
  const std::pair<std::string, second>& any_recent() { return recent_[random_() % recent_.size()]; }

  const place& place_;
  second newest_;
  std::shared_ptr<store> store_;
  filter filter_;
  std::shared_ptr<store> other_store_;
  filter reader_;
  exact_window model_;
  std::mt19937 random_{1};
  std::deque<std::pair<std::string, second>> recent_{};
  std::uint64_t made_ = 0;
};

struct place_kind {
  const char* name;
  std::function<std::unique_ptr<place>()> make;
};

void PrintTo(const place_kind& kind, std::ostream* out) {
  *out << kind.name;
}

const place_kind place_kinds[] = {
    {"in_memory", [] { return std::make_unique<memory_place>(); }},
    {"in_files", [] { return std::make_unique<file_place>(); }},
    {"judged_by_clients", [] { return std::make_unique<redis_place>(judge_kind::client); }},
    {"judged_by_servers", [] { return std::make_unique<redis_place>(judge_kind::server); }},
};

class Rotation : public testing::TestWithParam<place_kind> {};

// Promise: a key is remembered for the window and at most a slice more, however long the filter is in use
// (guarantees, Windows).
TEST_P(Rotation, ForgetsExactlyWhatHasExpiredAndNothingGrows) {
  const char* const asked = std::getenv("EVERSEEN_WINDOW_ROTATIONS");
  const std::int64_t rotations = asked == nullptr ? 1'000 : std::stoll(asked);
  const auto on = GetParam().make();
  // Ends now: a time ahead of the clock would be refused.
  stream events(*on, wall_clock().time_since_epoch() / 1s - rotations - 1);
  sizes usual = on->later();
  std::array<std::int64_t, 10> cpu{};  // of this process
  for (std::int64_t i = 0; i < rotations; ++i) {
    const std::clock_t begin = std::clock();
    events.go_on();
    if (HasFailure()) FAIL() << "in rotation " << i;
    cpu[static_cast<std::size_t>(10 * i / rotations)] += std::clock() - begin;
    if (i % 100 != 99) continue;
    for (const auto& [name, size] : events.measured()) {
      if (test::is_sanitized && name == "memory of this process") continue;  // freed memory is kept apart
      std::uint64_t& most = usual[name];
      if (i < rotations / 2)
        most = std::max(most, size);
      else
        EXPECT_LE(size, most + most / 4) << name << " after " << i << " rotations";
    }
  }
  std::cout << "CPU per rotation, by tenths, us:";
  for (const std::int64_t each : cpu) std::cout << ' ' << each * 10'000'000 / CLOCKS_PER_SEC / rotations;
  for (const auto& [name, size] : events.measured())
    std::cout << '\n' << name << ": " << size << ", at most " << usual[name] << " in the first half";
  std::cout << std::endl;
}

INSTANTIATE_TEST_SUITE_P(Places, Rotation, testing::ValuesIn(place_kinds),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace everseen
