#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/image.hpp"
#include "everseen/core/partition.hpp"
#include "everseen/redis/key_names.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

/// How long a server remembers what it answered to a batch, for the case that the answer is lost.
inline constexpr std::chrono::milliseconds answers_kept = std::chrono::minutes(10);
/// The same where an outage may be ridden out without end.
inline constexpr std::chrono::milliseconds answers_kept_in_an_outage = std::chrono::hours(24);

/// What all partitions of a filter on a server share. Never changes while the filter is open.
struct remote_filter {
  key_names keys;
  everseen::spec spec;
  image::filter_id id{};
  std::uint64_t generation = 1;
  std::optional<event_time> ends_at{};  ///< when the servers delete its keys, by their clocks
  std::chrono::milliseconds keeps_answers = answers_kept;
  std::string came_from{};  ///< a name that its partitions may still know it by; empty: none
};

/// A partition as it was when a client last looked: the plan for the next batch is made from this, and the
/// server refuses the batch if its epoch has moved on since.
struct remote_partition {
  std::uint32_t number = 0;
  std::uint64_t epoch = 0;
  std::vector<slice_state> slices;  ///< ascending; counts of keys are those of the moment of reading
  std::uint64_t end_number = 0;     ///< which of the ends that its filter was given
  std::uint64_t next = 0;  ///< the generation that is to replace this one, and must get its keys, too
  bool closed = false;     ///< it was replaced: its keys are judged there
  std::chrono::steady_clock::time_point looked_at{};

  [[nodiscard]] const slice_state* find(window::slice_index slice) const noexcept;
  [[nodiscard]] window::slice_index newest() const noexcept { return slices.back().index; }
};

/// All segments of slices, oldest first, with their layers.
struct listed_segment {
  segment_id id;
  layer_state layer;
};
[[nodiscard]] std::vector<listed_segment> segments_of(std::uint32_t partition,
                                                      const std::vector<slice_state>& slices);

/// 48 bits, so that it is never the generation of another filter of the same name.
[[nodiscard]] std::uint64_t random_generation();

/// Milliseconds since 1970, as the servers have it.
[[nodiscard]] std::string to_text(event_time t);

/// A new partition's state hash, for HSET: fields and values.
[[nodiscard]] std::vector<std::string> first_state(const remote_filter& f);

/// The manifest of a partition with these slices, as stored under `epoch`.
[[nodiscard]] std::string encode_state(const remote_filter& f, const remote_partition& p);

/// Makes sense of the answer to HGETALL of a state key.
/// @throws format_error   missing, damaged, or of another filter; names the key and says what to do
/// @throws storage_error  the filter has another name by now
[[nodiscard]] remote_partition decode_state(const remote_filter& f, std::uint32_t number,
                                            const reply& fields);

/// One command about one key, which may run twice.
/// @throws format_error  the key has another type    @throws backend_error  as session::ask; names the key
[[nodiscard]] reply ask_about(session& with, const route& key, std::initializer_list<std::string_view> words);

/// The error of a key that is not what it must be.
[[nodiscard]] format_error damaged_key(const std::string& key, const std::string& what);

}  // namespace everseen::redis
