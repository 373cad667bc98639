#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/journal/journal_walk.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// The state of a partition on a server: its segments contain the journal up to `begin` (and maybe more), and
/// the journal continues from there to `end`.
struct stored_checkpoint {
  partition_state state{};
  journal_position begin{};
  journal_position end{};
  /// Segments of unfinished checkpoints.
  std::vector<segment_id> being_written{};
  /// The successor of the filter; if set, the journal has ended for good.
  std::optional<image::filter_id> successor{};
};

/// The number of keys in each segment of a manifest, in its order.
[[nodiscard]] std::string encode_counts(const partition_state& s);
/// @throws format_error  it is damaged or belongs to another filter
[[nodiscard]] partition_state decode_checkpoint(const filter_identity& f, std::uint32_t partition,
                                                std::string_view manifest, std::string_view counts);
/// The segments in a manifest; none if it is empty.    @throws  as decode_checkpoint
[[nodiscard]] std::vector<segment_id> decode_segments(const filter_identity& f, std::uint32_t partition,
                                                      std::string_view manifest);

/// @throws storage_error  the filter was dropped    @throws format_error  the state is damaged
/// @throws backend_error  no answer
[[nodiscard]] stored_checkpoint read_checkpoint(server_connections& connections, const filter_identity& f,
                                                std::uint32_t partition);

/// Removes all keys of a partition, in one step; repairs a damaged one.
/// @throws storage_error  it was dropped, or as not_emptied    @throws parameter_error  it has a job
/// @throws backend_error
void empty_journal(server_connections& connections, const filter_identity& f, std::uint32_t partition);

/// The error for a sealed partition, which cannot be emptied: the filter is being rebuilt, or removed.
/// @throws backend_error, format_error
[[nodiscard]] storage_error not_emptied(server_connections& connections, const filter_identity& f,
                                        std::uint32_t partition);

/// The keys of a partition besides its state. The last is a chunk that a killed server may have created after
/// the end.
[[nodiscard]] std::vector<std::string> strings_of(const filter_identity& f, std::uint32_t partition,
                                                  const stored_checkpoint& c);

/// Reads a segment into `into`.    @return false  it is missing or has another length
/// @throws backend_error
[[nodiscard]] bool read_segment(server_connections& connections, const filter_identity& f,
                                const segment_id& id, std::span<std::byte> into);

}  // namespace everseen::redis
