#include "everseen/cli/planning/store_bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "everseen/cli/planning/samples.hpp"
#include "everseen/cli/planning/server_watch.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

/// A filter that is dropped at the end of its scope, or, if that fails, expires an hour after its last use.
class bench_filter {
 public:
  bench_filter(store& place, const spec_request& request);
  ~bench_filter();
  bench_filter(const bench_filter&) = delete;
  bench_filter& operator=(const bench_filter&) = delete;

  /// Extends its life to an hour from now, by the clock of its store, which may differ from this machine's.
  void stay();

  [[nodiscard]] filter& operator*() const noexcept { return *filter_; }
  [[nodiscard]] filter* operator->() const noexcept { return filter_.get(); }

 private:
  store& place_;
  const std::string name_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::unique_ptr<filter> filter_;
};

/// Keys by their numbers.
struct key_range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Keys of one call: a block of `dedup`.
inline constexpr std::size_t bench_batch_keys = 50'000;

/// Judges a range of keys, a batch at a time.
template <typename Call>
tally judge(key_range keys, std::size_t at_once, Call call) {
  std::vector<digest> digests(at_once);
  std::vector<verdict> out(at_once);
  tally sum;
  for (std::uint64_t done = 0; done < keys.count; done += at_once) {
    const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(at_once, keys.count - done));
    for (std::size_t i = 0; i < some; ++i) {
      const std::uint64_t number = keys.first + done + i;
      digests[i] = {sample_random::mix(2 * number + 1), sample_random::mix(~number)};
    }
    const batch_result judged = call(std::span(digests).first(some), std::span(out).first(some));
    if (!judged) judged.error().raise();
    sum += *judged;
  }
  return sum;
}

void must_be(bool right, const std::string& subject, const tally& got) {
  if (!right)
    throw format_error(
        fmt::format("{}, but {} were called fresh, {} seen and {} neither: the store answers "
                    "wrongly",
                    subject, got.fresh, got.seen, got.late + got.unknown));
}

bench_filter::bench_filter(store& place, const spec_request& request)
    : place_(place), name_("everseen-bench-" + redis::random_name()) {
  filter_ =
      std::make_unique<filter>(name_, place_.create(name_, place_.plan(request), std::chrono::hours(1)));
}

bench_filter::~bench_filter() {
  filter_.reset();  // a file that is open for writing cannot be dropped
  try {
    place_.drop(name_);
  } catch (const error&) {  // it expires
  }
}

void bench_filter::stay() {
  const auto current = std::chrono::steady_clock::now();
  if (const std::optional<event_time> end = place_.facts(name_).expires_at)
    place_.expire_at(name_, *end + std::chrono::duration_cast<std::chrono::milliseconds>(current - since_));
  since_ = current;
}

tally add(filter& target, key_range keys, std::size_t at_once = bench_batch_keys) {
  return judge(keys, at_once,
               [&](std::span<const digest> d, std::span<verdict> out) { return target.add_digests(d, out); });
}

tally look_up(const filter& in, key_range keys) {
  return judge(keys, bench_batch_keys, [&](std::span<const digest> d, std::span<verdict> out) {
    return in.may_contain_digests(d, out);
  });
}

/// Fresh keys may be called seen at the filter's rate; five standard deviations are allowed.
/// @throws format_error  more of them were
void must_be_fresh(const tally& got, std::uint64_t keys, double rate) {
  const double wrong = rate * static_cast<double>(keys);
  must_be(got.fresh + got.seen == keys && static_cast<double>(got.seen) <= wrong + 5 * std::sqrt(wrong) + 5,
          fmt::format("{} new keys were added at an error rate of {:g}", keys, rate), got);
}

/// @throws format_error  not all of them were seen
void must_be_seen(const tally& got, std::uint64_t keys) {
  must_be(got.seen == keys, fmt::format("{} keys were asked about that had been added", keys), got);
}

// For costs that are almost one call a key.
constexpr std::uint64_t few_keys = 12'800;
constexpr std::uint32_t few_partitions = 64;
constexpr std::size_t other_clients = 3;
/// Each phase ends within the filter's hour, even at 30,000 keys a second.
constexpr std::uint64_t most_keys_on_servers = 100'000'000;
constexpr double usual_rate = 1e-6;  // whose costs report/fleet has

double own_cpu_us() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return 1e6 * static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

class measurement {
 public:
  measurement(const std::string& url, std::uint64_t keys)
      : url_(url), keys_(keys), place_(open_chosen({.url = url})) {
    if (!place_->traits().is_remote) return;
    if (keys > most_keys_on_servers)
      throw parameter_error(fmt::format(
          "--keys may be at most {} on servers, so that the filters outlive what is measured with them",
          format_count(most_keys_on_servers)));
    watch_.emplace(url);
    costs_.round_trip_us = watch_->round_trip_us();
    note("round_trip_us", *costs_.round_trip_us);
  }

  store_costs run() {
    if (watch_) {
      judged_by_clients();
      if (servers_judge()) judged_by_servers();
    } else {
      embedded();
    }
    return std::move(costs_);
  }

 private:
  struct client {
    std::shared_ptr<store> place{};
    std::unique_ptr<everseen::filter> filter{};
  };

  struct call_costs {
    double us, own_us, in_bytes;
  };

  [[nodiscard]] static spec_request request(std::uint64_t capacity, double rate, judge_kind judge) {
    return {.capacity = capacity, .error_rate = rate, .judge = judge};
  }

  void note(const std::string& name, double value) {
    costs_.constants.push_back({name, std::max(value, 0.0)});
  }

  /// @param count  of the keys that `work` processes
  template <typename Work>
  key_cost time(bench_filter& source, const std::string& subject, std::uint64_t count, Work work) {
    source.stay();
    const server_use before = watch_ ? watch_->now() : server_use{};
    const double own_before = own_cpu_us();
    const auto begin = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double own = own_cpu_us() - own_before;
    const auto keys = static_cast<double>(count);
    key_cost cost{source->stored().path().text, subject, source->get_spec().error_rate, keys / seconds,
                  own / keys};
    if (cost.judged.empty()) cost.judged = url_without_password(url_);
    if (watch_) {
      const server_use used = watch_->now() - before;
      cost.server_us = std::max(used.cpu_us, 0.0) / keys;
      cost.in_bytes = std::max(used.in_bytes, 0.0) / keys;
      cost.out_bytes = std::max(used.out_bytes, 0.0) / keys;
    }
    costs_.rows.push_back(cost);
    return cost;
  }

  key_cost time_fresh(bench_filter& target) {
    return time(target, "fresh", keys_, [&] {
      must_be_fresh(add(*target, {0, keys_}), keys_, target->get_spec().error_rate);
    });
  }
  key_cost time_repeats(bench_filter& target) {
    return time(target, "repeat", keys_, [&] { must_be_seen(add(*target, {0, keys_}), keys_); });
  }

  /// Calls for each key of a batch: one call for each partition that has keys of the batch.
  static double calls_a_key(std::uint64_t batch, double partitions) {
    const auto keys = static_cast<double>(batch);
    return partitions * (1 - std::pow(1 - 1 / partitions, keys)) / keys;
  }

  /// The cost of calls, measured with batches so small that most keys are alone in a partition.
  /// @param source     the filter that `fresh` was measured with
  call_costs time_calls(const std::string& commands, const filter& source, const key_cost& fresh) {
    spec_request wanted = request(few_keys, usual_rate, source.get_spec().judge);
    wanted.partitions = few_partitions;
    bench_filter f(*place_, wanted);
    const key_cost small = time(f, fmt::format("fresh, batches of {}", few_partitions), few_keys, [&] {
      must_be_fresh(add(*f, {0, few_keys}, few_partitions), few_keys, usual_rate);
    });
    const double in_small = calls_a_key(few_partitions, few_partitions);
    const double in_fresh = calls_a_key(batch(), source.get_spec().partitions);
    const auto of_a_call = [&](double a_small, double a_fresh) {
      return std::max((a_small - a_fresh) / (in_small - in_fresh), 0.0);
    };
    const call_costs one{of_a_call(*small.server_us, *fresh.server_us), of_a_call(small.own_us, fresh.own_us),
                         of_a_call(*small.in_bytes, *fresh.in_bytes)};
    note(commands + "_call_us", one.us);
    return one;
  }

  /// The rest of `cost`: that of its keys alone.
  /// @param calls  for each key
  static key_cost without_calls(key_cost cost, const call_costs& one, double calls) {
    cost.server_us = *cost.server_us - calls * one.us;
    cost.own_us -= calls * one.own_us;
    cost.in_bytes = *cost.in_bytes - calls * one.in_bytes;
    return cost;
  }

  void embedded() {
    bench_filter f(*place_, request(keys_, usual_rate, judge_kind::server));
    note("embedded_us", time_fresh(f).own_us);
    (void)time_repeats(f);
  }

  void judged_by_clients() {
    bench_filter f(*place_, request(2 * keys_, usual_rate, judge_kind::client));
    std::vector<client> others(other_clients);
    for (client& c : others) {
      // Connections and bits of its own, like those of another process.
      c.place = open_chosen({.url = url_});
      c.filter = std::make_unique<everseen::filter>(f->name(), c.place->open(f->name(), access::write));
      (void)look_up(*c.filter, {0, bench_batch_keys});  // otherwise it would read everything later
    }
    const key_cost fresh = time_fresh(f);
    (void)time_repeats(f);

    // Few keys, but of each partition: this times how the other client catches up with the journal.
    const std::uint64_t some = batch();
    const key_cost follow = time(f, "read by another client", keys_, [&] {
      must_be_seen(look_up(*others[0].filter, {0, some}), some);
    });
    note("client_known_us", follow.own_us);
    for (const client& c : others) must_be_seen(look_up(*c.filter, {0, some}), some);

    const key_cost shared = time(f, fmt::format("fresh, {} clients in turn", other_clients + 1), keys_,
                                 [&] { add_in_turn(*f, others); });
    const call_costs calls = time_calls("client", *f, fresh);
    const key_cost keys = without_calls(fresh, calls, calls_a_key(batch(), f->get_spec().partitions));
    note("client_fresh_us", *keys.server_us);
    note("client_own_us", keys.own_us);
    note("call_own_us", calls.own_us);
    note("call_bytes", calls.in_bytes);

    // Each batch is sent twice, however many other clients there are.
    const key_cost shared_keys =
        without_calls(shared, calls, 2 * calls_a_key(batch_in_turn(), f->get_spec().partitions));
    const auto each = [](double more) { return more / static_cast<double>(other_clients); };
    note("client_another_us", each(*shared_keys.server_us - *keys.server_us));
    note("client_in_bytes", *shared_keys.in_bytes);
    note("client_out_bytes", each(*shared.out_bytes - *fresh.out_bytes));
  }

  [[nodiscard]] std::uint64_t batch() const { return std::min<std::uint64_t>(keys_, bench_batch_keys); }
  [[nodiscard]] std::uint64_t batch_in_turn() const {
    return std::clamp<std::uint64_t>(keys_ / 20, 1, bench_batch_keys);
  }

  /// Each batch finds keys that the other clients have added since this one's last: it is refused, reads
  /// them, and is sent again. At random moments this would also happen, but a different number of times in
  /// each run.
  void add_in_turn(filter& first, std::span<const client> others) const {
    const std::uint64_t at_once = batch_in_turn();
    tally all;
    std::size_t turn = 0;
    for (std::uint64_t done = 0; done < keys_; done += at_once) {
      filter& who = turn == 0 ? first : *others[turn - 1].filter;
      all += add(who, {keys_ + done, std::min(at_once, keys_ - done)});
      turn = (turn + 1) % (others.size() + 1);
    }
    must_be_fresh(all, keys_, usual_rate);
  }

  /// If all of them have the module.
  [[nodiscard]] bool servers_judge() const {
    return place_->plan({.capacity = keys_, .error_rate = usual_rate}).judge == judge_kind::server;
  }

  void judged_by_servers() {
    bench_filter f(*place_, request(keys_, usual_rate, judge_kind::server));
    const key_cost fresh = time_fresh(f), repeat = time_repeats(f);
    const key_cost keys =
        without_calls(fresh, time_calls("module", *f, fresh), calls_a_key(batch(), f->get_spec().partitions));
    note("module_fresh_us", *keys.server_us);
    note("module_repeat_us", *keys.server_us + *repeat.server_us - *fresh.server_us);
    note("module_own_us", keys.own_us);
    note("module_in_bytes", *keys.in_bytes);
  }

  const std::string url_;
  const std::uint64_t keys_;
  const std::shared_ptr<store> place_;
  std::optional<server_watch> watch_;
  store_costs costs_;
};

}  // namespace

store_costs measure_store(const std::string& url, std::uint64_t keys) {
  return measurement(url, keys).run();
}

}  // namespace everseen::cli
