#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "everseen/core/base/verdict.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::test {

/// Verdicts of one call for keys with the same time, in order. A filter that needs the keys themselves gets
/// the bytes of the digests.
struct answers {
  std::vector<verdict> verdicts;
  batch_result result;
};

namespace detail {

template <typename Call>
answers ask(const stored_filter& f, std::span<const digest> keys, event_time time, Call call) {
  const std::uint32_t partitions = f.batch_partitions();
  std::vector<std::vector<digest>> digests(partitions);
  std::vector<std::vector<std::string_view>> bytes(partitions);
  std::vector<std::vector<std::size_t>> places(partitions);
  std::vector<std::vector<verdict>> verdicts(partitions);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint32_t p = partition_of(keys[i], partitions);
    digests[p].push_back(keys[i]);
    if (f.wants_keys()) bytes[p].emplace_back(reinterpret_cast<const char*>(&keys[i]), sizeof keys[i]);
    places[p].push_back(i);
  }
  std::vector<partition_batch> batches;
  for (std::uint32_t p = 0; p < partitions; ++p) {
    verdicts[p].resize(digests[p].size());
    if (!digests[p].empty()) batches.push_back({p, digests[p], {&time, 1}, verdicts[p], bytes[p]});
  }
  answers all{std::vector<verdict>(keys.size()), call(batches)};
  for (std::uint32_t p = 0; p < partitions; ++p)
    for (std::size_t i = 0; i < places[p].size(); ++i) all.verdicts[places[p][i]] = verdicts[p][i];
  return all;
}

}  // namespace detail

inline answers add_keys(stored_filter& filter, std::span<const digest> keys, event_time time = {}) {
  return detail::ask(filter, keys, time, [&](auto& batches) { return filter.add(batches); });
}

inline answers add_keys_after(stored_filter& filter, std::span<const digest> keys,
                              const std::function<bool()>& effect) {
  return detail::ask(filter, keys, {}, [&](auto& batches) { return filter.add_after(batches, effect); });
}

inline answers check_keys(const stored_filter& in, std::span<const digest> keys, event_time time = {}) {
  return detail::ask(in, keys, time, [&](auto& batches) { return in.check(batches); });
}

/// The answers of a call that must succeed; if it did not, the test fails with the error's message.
inline answers answered(answers all, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!all.result)
    ADD_FAILURE_AT(file, line) << "no answer: " << all.result.error().message;
  else if (*all.result != everseen::tally_of(all.verdicts))
    ADD_FAILURE_AT(file, line) << "the tally is not that of the verdicts";
  return all;
}

/// As answered().
inline tally tally_of(const answers& all, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return everseen::tally_of(answered(all, file, line).verdicts);
}

/// As answered().
inline std::uint64_t fresh_in(const answers& all, const char* file = __builtin_FILE(),
                              int line = __builtin_LINE()) {
  return tally_of(all, file, line).fresh;
}

inline std::uint64_t keys_in(const stored_filter& filter) {
  std::uint64_t sum = 0;
  for (std::uint32_t p = 0; p < filter.get_spec().partitions; ++p) sum += filter.state(p).keys();
  return sum;
}

}  // namespace everseen::test
