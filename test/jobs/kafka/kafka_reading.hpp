#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "everseen/jobs/kafka/kafka_source.hpp"

#include "test/support/kafka/kafka_client.hpp"

namespace everseen::test {

using namespace std::chrono_literals;

inline const std::map<std::string, checkpoint, std::less<>> nothing_reached;

/// Messages of one partition: `prefix`0, `prefix`1, ...
inline std::vector<kafka_client::message> numbered(const std::string& prefix, int count, int from = 0) {
  std::vector<kafka_client::message> made;
  for (int i = from; i < from + count; ++i) made.push_back({prefix + std::to_string(i)});
  return made;
}

/// Faster than the defaults of a group, so that its tests take less than a minute.
inline std::string quick(std::string_view rest = "") {
  return "?group=g&session.timeout.ms=6000&heartbeat.interval.ms=200&fetch.wait.max.ms=20" +
         std::string(rest);
}

struct record_copy {
  std::string lane;
  std::string bytes;
  std::uint64_t position = 0;
  std::uint64_t generation = 0;
};

/// Reads batches until there are this many records, or for two minutes.
/// @param settle  settles each batch immediately
inline std::vector<record_copy> take(source& from, std::size_t records, bool settle = false) {
  std::vector<record_copy> taken;
  const auto end = std::chrono::steady_clock::now() + 120s;
  while (taken.size() < records && std::chrono::steady_clock::now() < end) {
    source_batch batch;
    const auto state = from.next(batch, 50ms);
    if (state == source::state::ended) break;
    if (state != source::state::records) continue;
    for (const source_record& each : batch.records)
      taken.push_back({batch.lane, std::string(each.bytes), each.position, batch.generation});
    if (settle) {
      const checkpoint reached = from.reached(batch);
      from.settled(std::span(&reached, 1));
    }
  }
  return taken;
}

/// Ends a source that would wait for more.
template <typename Error>
std::string failure_of(source& from, std::chrono::seconds within = 120s) {
  const auto end = std::chrono::steady_clock::now() + within;
  try {
    while (std::chrono::steady_clock::now() < end) {
      source_batch batch;
      if (from.next(batch, 50ms) == source::state::ended) return "it ended";
    }
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing";
}

/// Their bytes, by lane and in order.
inline std::map<std::string, std::vector<std::string>> by_lane(const std::vector<record_copy>& all) {
  std::map<std::string, std::vector<std::string>> sorted;
  for (const record_copy& each : all) sorted[each.lane].push_back(each.bytes);
  return sorted;
}

inline std::vector<std::string> values(const std::vector<record_copy>& all) {
  std::vector<std::string> found;
  for (const auto& each : all) found.push_back(each.bytes);
  return found;
}

inline std::optional<std::uint64_t> first_position(const std::vector<record_copy>& all) {
  return all.empty() ? std::nullopt : std::optional(all.front().position);
}

inline std::vector<std::string> values(const std::vector<kafka_client::message>& all) {
  std::vector<std::string> found;
  for (const auto& each : all) found.push_back(each.value);
  return found;
}

}  // namespace everseen::test
