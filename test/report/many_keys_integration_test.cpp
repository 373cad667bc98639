// As many keys as a filter was planned for, in each store: none is missing, the error rate holds, and the
// filter takes the memory that was planned. The soak has a billion keys.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "everseen/everseen.hpp"
#include "everseen/report/fleet.hpp"

#include "test/support/binomial.hpp"
#include "test/support/redis_server.hpp"
#include "test/support/sanitizer.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen {
namespace {

using test::binomial_bound;
using test::binomial_floor;

constexpr double rate = 1e-6;

std::uint64_t own_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// What this process takes more than when this was made.
class own_growth {
 public:
  std::uint64_t operator()() const {
    const std::uint64_t bytes = own_bytes();
    return bytes > before_ ? bytes - before_ : 0;
  }

 private:
  std::uint64_t before_ = own_bytes();
};

/// A filter as `everseen plan --store redis` proposes it, for one client and servers that save no snapshots.
fleet_design planned(std::string_view name, std::uint64_t keys) {
  fleet_constants constants = usual_constants();
  constants["copied_share"] = 1e-9;
  const fleet_plan plan = plan_fleet(
      {.keys = keys, .error_rate = rate, .per_second = 1, .clients = 1, .module = true}, constants);
  return *std::ranges::find(plan.designs, name, &fleet_design::name);
}

/// Something that a filter takes room in.
struct room {
  std::string name;
  std::function<std::uint64_t()> measure;
  double planned_bytes;
  std::uint64_t other_bytes;  ///< of what is there beside filters
};

/// Batches, tables of partitions, buffers of connections, and what the allocator holds back.
constexpr std::uint64_t process_bytes = 32 << 20;
constexpr std::uint64_t server_bytes = 4 << 20;
constexpr std::uint64_t header_bytes = 4096;  // of a file, with its name

/// A store of its own.
class shelf {
 public:
  explicit shelf(fleet_design plan) : plan_(std::move(plan)) {}
  virtual ~shelf() = default;
  [[nodiscard]] virtual std::string url() const = 0;
  [[nodiscard]] virtual std::vector<room> rooms() const = 0;
  [[nodiscard]] const fleet_design& plan() const noexcept { return plan_; }
  [[nodiscard]] judge_kind judge() const noexcept {
    return plan_.name == "client" ? judge_kind::client : judge_kind::server;
  }

 private:
  fleet_design plan_;
};

class memory_shelf final : public shelf {
 public:
  explicit memory_shelf(std::uint64_t keys) : shelf(planned("embedded", keys)) {}
  [[nodiscard]] std::string url() const override { return "mem:"; }
  [[nodiscard]] std::vector<room> rooms() const override {
    return {{"memory of this process", growth_, plan().client.bytes, process_bytes}};
  }

 private:
  own_growth growth_{};
};

class file_shelf final : public shelf {
 public:
  explicit file_shelf(std::uint64_t keys) : shelf(planned("embedded", keys)) {}
  [[nodiscard]] std::string url() const override { return "file:" + directory_.path().string(); }
  [[nodiscard]] std::vector<room> rooms() const override {
    const auto measure = [this] {
      std::uint64_t sum = 0;
      for (const auto& each : std::filesystem::recursive_directory_iterator(directory_.path()))
        if (each.is_regular_file()) sum += each.file_size();
      return sum;
    };
    return {{"files", measure, plan().client.bytes, (plan().partitions + 4) * header_bytes}};
  }

 private:
  test::scratch_directory directory_{};
};

class redis_shelf final : public shelf {
 public:
  redis_shelf(std::string_view design, std::uint64_t keys)
      : shelf(planned(design, keys)),
        server_(judge() == judge_kind::server ? test::with_module() : std::vector<std::string>()) {}
  [[nodiscard]] std::string url() const override {
    return server_.unix_url("?mirror=" + std::to_string((plan().filter_bytes >> 20) + 1) + "Mi");
  }
  [[nodiscard]] std::vector<room> rooms() const override {
    const auto measure = [this] {
      const std::string text = server_.run({"INFO", "memory"});
      constexpr std::string_view name = "used_memory:";
      return std::stoull(text.substr(text.find(name) + name.size()));
    };
    return {{"memory of this process", growth_, plan().client.bytes, process_bytes},
            {"memory of the server", measure, plan().server.bytes, server_bytes}};
  }

 private:
  own_growth growth_{};
  test::redis_server server_;
};

struct shelf_kind {
  const char* name;
  std::function<std::unique_ptr<shelf>(std::uint64_t)> make;  ///< for a number of keys
};

void PrintTo(const shelf_kind& kind, std::ostream* out) {
  *out << kind.name;
}

const shelf_kind shelf_kinds[] = {
    {"in_memory", [](auto keys) { return std::make_unique<memory_shelf>(keys); }},
    {"in_files", [](auto keys) { return std::make_unique<file_shelf>(keys); }},
    {"judged_by_clients", [](auto keys) { return std::make_unique<redis_shelf>("client", keys); }},
    {"judged_by_servers", [](auto keys) { return std::make_unique<redis_shelf>("module", keys); }},
};

/// Numbers from one on, as keys of eight bytes.
class numbered_keys {
 public:
  static constexpr std::size_t most = std::size_t{1} << 17;

  numbered_keys() {
    for (std::size_t i = 0; i < most; ++i)
      views_.emplace_back(reinterpret_cast<const char*>(&numbers_[i]), sizeof numbers_[i]);
  }

  /// @return the keys first, first + 1, …, before `end`
  std::span<const std::string_view> from(std::uint64_t first, std::uint64_t end) {
    const std::size_t count = std::min<std::uint64_t>(most, end - first);
    for (std::size_t i = 0; i < count; ++i) numbers_[i] = first + i;
    return std::span(views_).first(count);
  }

 private:
  std::vector<std::uint64_t> numbers_ = std::vector<std::uint64_t>(most);
  std::vector<std::string_view> views_{};
};

class ManyKeys : public testing::TestWithParam<shelf_kind> {
 protected:
  /// Judges keys from one number on.    @return how many were seen
  std::uint64_t seen(const filter& f, std::uint64_t first, std::uint64_t end) {
    std::uint64_t sum = 0;
    for (; first < end; first += numbered_keys::most) {
      const auto keys = keys_.from(first, end);
      sum += f.may_contain(keys, std::span(verdicts_).first(keys.size())).value().seen;
    }
    return sum;
  }

  numbered_keys keys_{};
  std::vector<verdict> verdicts_ = std::vector<verdict>(numbered_keys::most);
};

// Promise: at its capacity a filter has every key and keeps its error rate (guarantees, Error rate).
// Promise: a filter takes the memory that was planned, of its clients and of its servers (scale, One example
// by hand).
TEST_P(ManyKeys, AreAllThereWithinTheRateAndThePlan) {
  const char* const asked = std::getenv("EVERSEEN_MANY_KEYS");
  const std::uint64_t count = asked == nullptr ? 4'000'000 : std::stoull(asked);
  const auto on = GetParam().make(count);
  const auto place = open_store(on->url());
  filter f("f", place->create("f", place->plan({.capacity = count,
                                                .error_rate = rate,
                                                .seed = hash_seed{},
                                                .partitions = on->plan().partitions,
                                                .judge = on->judge()})));

  std::uint64_t fresh = 0;
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu_begin = std::clock();
  for (std::uint64_t first = 1; first <= count; first += numbered_keys::most) {
    const auto keys = keys_.from(first, count + 1);
    const batch_result added = f.add(keys, std::span(verdicts_).first(keys.size()));
    ASSERT_TRUE(added) << added.error().message;
    ASSERT_EQ(added->fresh + added->seen, keys.size());
    fresh += added->fresh;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double cpu = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;  // of this process
  EXPECT_LE(count - fresh, binomial_bound(count, rate)) << "new keys that were called seen";

  const filter_info info = f.info();
  EXPECT_EQ(info.keys, fresh);
  EXPECT_EQ(info.max_layers, 1U) << "it did not have to grow";
  EXPECT_LE(info.error_rate_now, rate);
  const auto expected = static_cast<std::uint64_t>(info.expected_false_seen);
  EXPECT_LE(count - fresh, binomial_bound(count, info.expected_false_seen / static_cast<double>(count)))
      << "of " << expected << " by the formulas";

  // Of all keys, every sixteenth batch; and as many that were never added.
  std::uint64_t looked_up = 0, found = 0;
  for (std::uint64_t first = 1; first <= count; first += 16 * numbered_keys::most) {
    const std::uint64_t end = std::min(first + numbered_keys::most, count + 1);
    found += seen(f, first, end);
    looked_up += end - first;
  }
  EXPECT_EQ(found, looked_up) << "keys were forgotten";
  const std::uint64_t strangers = std::max<std::uint64_t>(looked_up, 4'000'000);
  const std::uint64_t wrong = seen(f, count + 1, count + 1 + strangers);
  EXPECT_LE(wrong, binomial_bound(strangers, rate));
  EXPECT_LE(wrong, binomial_bound(strangers, info.error_rate_now)) << "more than the formulas predict";
  EXPECT_GE(wrong, binomial_floor(strangers, info.error_rate_now)) << "fewer than the formulas predict";

  const auto ns_per_key = [&](double seconds) { return seconds * 1e9 / static_cast<double>(count); };
  std::cout << count << " keys, " << took.count() << " s, " << ns_per_key(took.count()) << " ns per key, CPU "
            << ns_per_key(cpu) << ", " << static_cast<double>(info.bytes) / static_cast<double>(count)
            << " bytes per key; called seen: " << count - fresh << ", by the formulas " << expected << "; of "
            << strangers << " others " << wrong << ", by the formulas "
            << static_cast<double>(strangers) * info.error_rate_now;
  EXPECT_EQ(info.bytes, on->plan().filter_bytes);
  for (const room& each : on->rooms()) {
    const std::uint64_t bytes = each.measure();
    std::cout << "; " << each.name << ' ' << bytes / 1'000'000 << " MB, planned "
              << std::llround(each.planned_bytes / 1e6);
    if (!test::is_sanitized) {
      EXPECT_LE(static_cast<double>(bytes), each.planned_bytes + static_cast<double>(each.other_bytes))
          << each.name;
    }
  }
  std::cout << std::endl;
}

INSTANTIATE_TEST_SUITE_P(Shelves, ManyKeys, testing::ValuesIn(shelf_kinds),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace everseen
