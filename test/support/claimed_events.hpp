#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/layout/layout.hpp"
#include "everseen/store/port/store.hpp"

#include "test/support/random_digests.hpp"

namespace everseen::test {

/// An event as a job sees it.
struct event {
  std::uint64_t position = 0;
  digest key{};
  event_time time{};
  std::vector<std::string> counters{};
};

/// Verdicts of one claim, in the order of the events.
struct claimed {
  std::vector<verdict> verdicts{};
  std::vector<std::uint8_t> before{};
  batch_result result{};
};

/// Claims events of one lane, all with the same number of counters.
inline claimed claim_events(ledger& job, const spec& s, const lane_progress& from,
                            std::span<const event> events) {
  struct share {
    std::vector<std::size_t> places{};
    std::vector<digest> digests{};
    std::vector<event_time> times{};
    std::vector<std::uint64_t> positions{};
    std::vector<std::uint32_t> counters{};
    std::vector<verdict> verdicts{};
    std::vector<std::uint8_t> before{};
  };
  std::map<std::string, std::uint32_t> numbers;
  for (const event& e : events)
    for (const std::string& name : e.counters) numbers.emplace(name, 0);
  std::vector<std::string_view> names;
  for (auto& [name, number] : numbers) {
    number = static_cast<std::uint32_t>(names.size());
    names.push_back(name);
  }
  std::vector<share> shares(s.partitions);
  for (std::size_t i = 0; i < events.size(); ++i) {
    share& part = shares[partition_of(events[i].key, s.partitions)];
    part.places.push_back(i);
    part.digests.push_back(events[i].key);
    part.times.push_back(events[i].time);
    part.positions.push_back(events[i].position);
    for (const std::string& name : events[i].counters) part.counters.push_back(numbers[name]);
  }
  const std::size_t each = events.empty() ? 0 : events.front().counters.size();
  std::vector<claim_batch> batches;
  for (std::uint32_t p = 0; p < s.partitions; ++p) {
    share& part = shares[p];
    part.verdicts.resize(part.places.size());
    part.before.resize(part.places.size());
    if (!part.places.empty())
      batches.push_back({{p, part.digests, part.times, part.verdicts},
                         part.positions,
                         {names, part.counters, each},
                         part.before});
  }
  claimed all{std::vector<verdict>(events.size()), std::vector<std::uint8_t>(events.size()), {}};
  all.result = job.claim(from, batches);
  for (const share& part : shares)
    for (std::size_t i = 0; i < part.places.size(); ++i) {
      all.verdicts[part.places[i]] = part.verdicts[i];
      all.before[part.places[i]] = part.before[i];
    }
  return all;
}

/// Events at positions from `first` on, each with its own key.
inline std::vector<event> new_events(random_digests& source, std::uint64_t first, std::size_t n) {
  std::vector<event> events;
  for (std::size_t i = 0; i < n; ++i) events.push_back({first + i, source()});
  return events;
}

/// "00110" for fresh, fresh, seen, seen, fresh; 2 late, 3 unknown.
inline std::string text_of(const std::vector<verdict>& verdicts) {
  std::string text;
  for (const verdict v : verdicts) text += static_cast<char>('0' + static_cast<int>(v));
  return text;
}

/// The counters of a ledger, summed over all partitions.
inline std::map<std::string, std::int64_t> counters_of(const ledger& job) {
  std::map<std::string, std::int64_t> sums;
  job.visit_counters([&](std::string_view name, std::int64_t value) { sums[std::string(name)] += value; });
  return sums;
}

}  // namespace everseen::test
