#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "everseen/core/segments.hpp"

/// What a partition in Redis is made of, as seen from its state key: doc/format.md, "In Redis". Clients and
/// the Redis module agree on it here.
namespace everseen::partition_keys {

/// A segment: a string of bits.
[[nodiscard]] inline std::string segment(const std::string& state, const segment_id& id) {
  return state + ":" + std::to_string(id.slice) + "." + std::to_string(id.layer);
}

/// The last batch of one client and what it was answered; expires.
[[nodiscard]] inline std::string token(const std::string& state, std::string_view client) {
  return state + ":t:" + std::string(client);
}

/// By lane, what a job knows of it here (lane_record.hpp), and by counter_field(), what it counts: one hash,
/// so that one command writes both.    @param job  its id
[[nodiscard]] inline std::string lane_records(const std::string& state, std::string_view job) {
  return state + ":l" + std::string(job);
}

/// The field of a counter in the hash of records. No lane's name begins like it.
[[nodiscard]] inline std::string counter_field(std::string_view name) {
  return '\0' + std::string(name);
}
[[nodiscard]] constexpr bool is_counter_field(std::string_view field) noexcept {
  return field.starts_with('\0');
}

/// The field of a state hash without which nothing is claimed for a job.    @param job  its id
[[nodiscard]] inline std::string job_field(std::string_view job) {
  return "job:" + std::string(job);
}

/// The field of a state hash that counts a segment's keys.
[[nodiscard]] inline std::string count_field(const segment_id& id) {
  return "keys:" + std::to_string(id.slice) + "." + std::to_string(id.layer);
}

/// Length of the sequence that a token begins with: fixed, so that none is another's beginning.
inline constexpr std::size_t sequence_bytes = 20;

/// A Redis string ends here, so a segment must.
inline constexpr std::uint64_t max_segment_bytes = std::uint64_t{512} << 20;

/// How long a segment lives that is not published: nobody else would ever find it.
inline constexpr std::string_view unpublished_life_ms = "600000";

/// How much a segment is lengthened by in one command: zeroing 4 MiB takes about a millisecond.
inline constexpr std::uint64_t growth_step_bytes = std::uint64_t{4} << 20;

}  // namespace everseen::partition_keys
