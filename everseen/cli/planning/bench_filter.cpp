#include "everseen/cli/planning/bench_filter.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "everseen/cli/planning/samples.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::cli {

namespace {

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

}  // namespace

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

tally add(filter& target, key_range keys, std::size_t at_once) {
  return judge(keys, at_once,
               [&](std::span<const digest> d, std::span<verdict> out) { return target.add_digests(d, out); });
}

tally look_up(const filter& in, key_range keys) {
  return judge(keys, bench_batch_keys, [&](std::span<const digest> d, std::span<verdict> out) {
    return in.may_contain_digests(d, out);
  });
}

void must_be_fresh(const tally& got, std::uint64_t keys, double rate) {
  const double wrong = rate * static_cast<double>(keys);
  must_be(got.fresh + got.seen == keys && static_cast<double>(got.seen) <= wrong + 5 * std::sqrt(wrong) + 5,
          fmt::format("{} new keys were added at an error rate of {:g}", keys, rate), got);
}

void must_be_seen(const tally& got, std::uint64_t keys) {
  must_be(got.seen == keys, fmt::format("{} keys were asked about that had been added", keys), got);
}

}  // namespace everseen::cli
