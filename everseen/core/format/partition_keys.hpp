#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "everseen/core/layout/layout.hpp"
#include "everseen/core/partition/segments.hpp"

/// The Redis keys and fields of a partition, derived from the key of its state or value: doc/format.md, "In
/// Redis". The token, the records and their counters are also those of the module.
namespace everseen::partition_keys {

/// A segment: a string of bits.
[[nodiscard]] inline std::string segment(const std::string& state, const segment_id& id) {
  return state + ":" + std::to_string(id.slice) + "." + std::to_string(id.layer);
}

/// The last batch of one client and its answer; expires.
[[nodiscard]] inline std::string token(const std::string& state, std::string_view client) {
  return state + ":t:" + std::string(client);
}

/// The records of a job in this partition: per lane a lane_record, and per counter_field() a count. One hash,
/// so that one command writes both.    @param job  its id
[[nodiscard]] inline std::string lane_records(const std::string& state, std::string_view job) {
  return state + ":l" + std::string(job);
}

/// The field of a counter in the hash of records. No lane name starts like it.
[[nodiscard]] inline std::string counter_field(std::string_view name) {
  return '\0' + std::string(name);
}
[[nodiscard]] constexpr bool is_counter_field(std::string_view field) noexcept {
  return field.starts_with('\0');
}

/// The field of a state hash that must exist for a job to claim.    @param job  its id
[[nodiscard]] inline std::string job_field(std::string_view job) {
  return "job:" + std::string(job);
}

/// Length of the sequence number at the start of a token: fixed, so that no number is a prefix of another.
inline constexpr std::size_t sequence_bytes = 20;

/// The maximum length of a Redis string, and so of a segment.
inline constexpr std::uint64_t max_segment_bytes = std::uint64_t{512} << 20;

/// Why a server cannot have such a segment of a filter that clients judge; empty: it can.
[[nodiscard]] constexpr std::string_view excess_of(const geometry& shape) noexcept {
  if (shape.bytes > max_segment_bytes)
    return "a Redis string ends at 512 MiB; take more partitions, a server with the everseen module, or a "
           "file: store";
  return {};
}

}  // namespace everseen::partition_keys
