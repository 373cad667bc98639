// Reports about an attached filter: fill, error rate, concerns.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "everseen/redis/attached/attached_filter.hpp"

namespace everseen::redis {

double attached_filter::estimated_keys(std::uint64_t set_bits) const {
  const auto bits = static_cast<double>(reachable_bits(names_.to));
  // A string whose bits are all set may hold any number of keys. With one bit less there is an estimate.
  const double set = std::min(static_cast<double>(set_bits), bits - 1);
  return -bits / names_.to.how.probes * std::log1p(-set / bits);
}

double attached_filter::error_rate_now(const std::vector<bitmap>& all) const {
  const auto bits = static_cast<double>(reachable_bits(names_.to));
  double right = 1;
  double sum = 0;
  for (const bitmap& b : all) {
    const double rate = std::pow(static_cast<double>(b.set_bits) / bits, names_.to.how.probes);
    right *= 1 - rate;
    sum += rate;
  }
  // A key is looked up in every string of a chain, but in one of the shards.
  if (names_.to.shape == attachment::form::growing) return 1 - right;
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

std::vector<std::string> attached_filter::doubts(const std::vector<bitmap>& all) const {
  std::vector<std::string> found;
  if (const auto hash = compat::warning_about(names_.to.how); !hash.empty()) found.emplace_back(hash);
  if (names_.to.shape == attachment::form::growing)
    found.emplace_back(
        "each string of a growing filter has the whole error rate, so with every string it errs more");
  const bool random_positions = compat::facts(names_.to.how.which).has_random_positions;
  for (const bitmap& b : all) {
    const std::string& key = b.place.key;
    // The last of this many random bits is near the end, except with a chance of one in 10^21.
    const double reached = static_cast<double>(8 * b.bytes) / static_cast<double>(reachable_bits(names_.to));
    if (random_positions && b.set_bits >= 100 && reached < 1 - 50 / static_cast<double>(b.set_bits))
      found.push_back("the string " + key + " ends at bit " + std::to_string(8 * b.bytes) + " though " +
                      std::to_string(b.set_bits) + " bits are set: the filter seems to have fewer than " +
                      std::to_string(names_.to.how.bits) + " bits");
  }
  return found;
}

std::vector<std::string> attached_filter::missing(const std::vector<bitmap>& all) const {
  const attachment& a = names_.to;
  const bool shards = a.shape == attachment::form::sharded;
  // A shard that has received no key does not exist yet. With this many bits per shard every shard has
  // received one.
  constexpr std::uint64_t bits_a_shard = 10'000;
  std::uint64_t set_bits = 0;
  for (const bitmap& b : all) set_bits += b.set_bits;
  std::vector<std::string> found;
  for (const bitmap& b : all) {
    if (b.bytes > 0 || (shards && !a.was_there && set_bits < bits_a_shard * all.size())) continue;
    if (all.size() > 1 && !shards)
      found.push_back(string_fault::of_missing(b.place.key, a));
    else
      found.push_back("the key " + b.place.key + (shards ? " of " + b.server : "") +
                      " does not exist, which is an empty filter to its program and to everseen" +
                      (a.was_there ? ": it was there when it was attached, so it was deleted, has expired or "
                                     "was evicted, and all that it had seen is fresh now"
                                   : ": if it did, it was deleted, has expired or was evicted"));
  }
  return found;
}

std::vector<std::string> attached_filter::lost_strings() const {
  if (!names_.to.was_there) return {};
  return missing(strings());
}

/// Keeps callers that often ask for the fill from making the servers count bits all the time.
std::vector<bitmap> attached_filter::recent_survey() const {
  using clock = std::chrono::steady_clock;
  {
    const std::scoped_lock alone(lock_);
    if (clock::now() < surveyed_.good_until) return surveyed_.all;
  }
  std::vector<bitmap> all = survey();
  std::uint64_t bytes = 0;
  for (const bitmap& b : all) bytes += b.bytes;
  constexpr std::uint64_t too_few = std::uint64_t{1} << 20;
  constexpr std::uint64_t bytes_a_second = std::uint64_t{8} << 20;
  if (bytes > too_few) {
    const std::scoped_lock alone(lock_);
    surveyed_ = {all, clock::now() + std::chrono::milliseconds(1000 * bytes / bytes_a_second)};
  }
  return all;
}

partition_state attached_filter::state(std::uint32_t /*partition*/) const {
  const std::vector<bitmap> all = recent_survey();
  const std::uint64_t bytes = (reachable_bits(names_.to) + 7) / 8;
  const auto probes = static_cast<std::uint8_t>(names_.to.how.probes);
  slice_state slice;
  for (const bitmap& b : all) {
    const auto keys = static_cast<std::uint64_t>(std::llround(estimated_keys(b.set_bits)));
    if (names_.to.shape == attachment::form::sharded && !slice.layers.empty()) {
      slice.layers.front().shape.bytes += bytes;
      slice.layers.front().keys += keys;
    } else {
      slice.layers.push_back({{layout_kind::classic, probes, bytes}, spec_.capacity, keys});
    }
  }
  return {{std::move(slice)}};
}

}  // namespace everseen::redis
