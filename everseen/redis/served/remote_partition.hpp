#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/format/image.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/segment_list.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

using partition_keys::count_field;

/// A partition's state when the client last read it. Batches are planned from it, and the server refuses a
/// batch if the epoch has changed since.
struct remote_partition {
  std::uint32_t number = 0;
  std::uint64_t epoch = 0;
  std::vector<slice_state> slices;  ///< ascending; counts of keys are those of the moment of reading
  std::optional<image::filter_id> successor{};  ///< it is sealed: nothing is added to it any more

  [[nodiscard]] const slice_state* find(window::slice_index slice) const noexcept;
  [[nodiscard]] window::slice_index newest() const noexcept { return slices.back().index; }
};

/// The state hash of a new partition that its servers judge, for HSET: fields and values.
[[nodiscard]] std::vector<std::string> first_fields(const filter_identity& f, std::uint32_t partition,
                                                    const partition_state& s);

/// Parses the answer to HGETALL of a state key.
/// @throws format_error   missing, damaged, or of another filter; names the key and says what to do
[[nodiscard]] remote_partition decode_state(const filter_identity& f, std::uint32_t number,
                                            const reply& fields);

}  // namespace everseen::redis
