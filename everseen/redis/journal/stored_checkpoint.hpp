#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/journal/journal_position.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// What a server says of a partition: its segments hold the journal up to `begin` (and maybe more), and the
/// journal goes on from there to `end`.
struct stored_checkpoint {
  partition_state state{};
  journal_position begin{};
  journal_position end{};
  /// By checkpoints that were begun and not finished.
  std::vector<segment_id> being_written{};
  /// The filter that succeeds; then the journal has ended for good.
  std::optional<image::filter_id> successor{};
};

/// How many keys the segments of a manifest hold, in its order.
[[nodiscard]] std::string encode_counts(const partition_state& s);
/// @throws format_error  they are damaged or of another filter
[[nodiscard]] partition_state decode_checkpoint(const filter_identity& f, std::uint32_t partition,
                                                std::string_view manifest, std::string_view counts);
/// The segments that a manifest lists; none where it is empty.    @throws  as decode_checkpoint
[[nodiscard]] std::vector<segment_id> decode_segments(const filter_identity& f, std::uint32_t partition,
                                                      std::string_view manifest);

/// @throws storage_error  the filter was dropped    @throws format_error  the state is damaged
/// @throws backend_error  no answer
[[nodiscard]] stored_checkpoint read_checkpoint(session& with, const filter_identity& f,
                                                std::uint32_t partition);

/// Forgets all keys of a partition, in one step; one that is damaged is whole after it.
/// @throws storage_error  the filter was dropped, or is being rebuilt    @throws parameter_error  it has a
/// job
/// @throws backend_error
void empty_journal(session& with, const filter_identity& f, std::uint32_t partition);

/// The keys of what a partition consists of beside its state; the last is one that a server which was killed
/// may have made behind the end.
[[nodiscard]] std::vector<std::string> strings_of(const filter_identity& f, std::uint32_t partition,
                                                  const stored_checkpoint& c);

/// Fills `into` with a segment.    @return false  it is missing or has another length
/// @throws backend_error
[[nodiscard]] bool read_segment(session& with, const filter_identity& f, const segment_id& id,
                                std::span<std::byte> into);

}  // namespace everseen::redis
