/// Names of the Redis keys through which a filter is found: doc/format.md, "Names". Shared by clients and the
/// Redis module. Those next to a partition's state are in the namespace partition_keys.
///
/// The part in braces is the hash tag. It puts all keys of one partition into one cluster slot, so that one
/// script may access them all.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/core/partition/segments.hpp"

namespace everseen::filter_names {

/// 32 hexadecimal digits.
[[nodiscard]] inline std::string to_text(const image::filter_id& id) {
  return hex_of(id);
}

[[nodiscard]] inline std::optional<image::filter_id> parse_id(std::string_view digits) {
  image::filter_id id;
  if (digits.size() != 2 * id.size()) return std::nullopt;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const auto byte = read_number<std::uint8_t>(digits.substr(2 * i, 2), 16);
    if (!byte) return std::nullopt;
    id[i] = *byte;
  }
  return id;
}

/// Hash from the filters' names to their ids. No filter header has this name.
[[nodiscard]] inline std::string index(const std::string& prefix) {
  return prefix + ":{names}";
}
/// Hash of the links, keyed by the filter that asks another one first.
[[nodiscard]] inline std::string links(const std::string& prefix) {
  return index(prefix) + ":links";
}

/// @param id  to_text()
[[nodiscard]] inline std::string header(const std::string& prefix, const std::string& id) {
  return prefix + ":{" + id + "}";
}
/// The state of a partition, besides bits and journal.    @param id  to_text()
[[nodiscard]] inline std::string state(const std::string& prefix, const std::string& id,
                                       std::uint32_t partition) {
  return prefix + ":{" + id + "/" + std::to_string(partition) + "}";
}

}  // namespace everseen::filter_names

namespace everseen::partition_keys {

/// The Redis keys and fields of a partition, derived from the key of its state or value: doc/format.md, "In
/// Redis". The token, the records and their counters are also those of the module.

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
