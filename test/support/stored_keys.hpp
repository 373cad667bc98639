#pragma once

#include <span>
#include <vector>

#include "everseen/core/layout/layout.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::test {

/// Verdicts of one call for keys with the same time, in order.
struct answers {
  std::vector<verdict> verdicts;
  batch_result result;
};

namespace detail {

template <typename Call>
answers ask(const spec& s, std::span<const digest> keys, event_time now, Call call) {
  std::vector<std::vector<digest>> digests(s.partitions);
  std::vector<std::vector<std::size_t>> places(s.partitions);
  std::vector<std::vector<verdict>> verdicts(s.partitions);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint32_t p = partition_of(keys[i], s.partitions);
    digests[p].push_back(keys[i]);
    places[p].push_back(i);
  }
  std::vector<partition_batch> batches;
  for (std::uint32_t p = 0; p < s.partitions; ++p) {
    verdicts[p].resize(digests[p].size());
    if (!digests[p].empty()) batches.push_back({p, digests[p], {&now, 1}, verdicts[p]});
  }
  answers all{std::vector<verdict>(keys.size()), call(batches)};
  for (std::uint32_t p = 0; p < s.partitions; ++p)
    for (std::size_t i = 0; i < places[p].size(); ++i) all.verdicts[places[p][i]] = verdicts[p][i];
  return all;
}

}  // namespace detail

inline answers add_keys(stored_filter& to, std::span<const digest> keys, event_time now = {}) {
  return detail::ask(to.get_spec(), keys, now, [&](auto& batches) { return to.add(batches); });
}

inline answers check_keys(const stored_filter& in, std::span<const digest> keys, event_time now = {}) {
  return detail::ask(in.get_spec(), keys, now, [&](auto& batches) { return in.check(batches); });
}

inline std::uint64_t keys_in(const stored_filter& filter) {
  std::uint64_t sum = 0;
  for (std::uint32_t p = 0; p < filter.get_spec().partitions; ++p) sum += filter.state(p).keys();
  return sum;
}

}  // namespace everseen::test
