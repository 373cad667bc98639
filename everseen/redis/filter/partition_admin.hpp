#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

// Operations on a whole partition, for both kinds of judges.

/// The state of a new partition, for HSET: fields and values.
[[nodiscard]] std::vector<std::string> first_state(const filter_identity& f, std::uint32_t partition,
                                                   const partition_state& s);

/// The keys of a partition besides its state. Cost: one round trip.
/// @throws storage_error  the state is gone    @throws backend_error, format_error
[[nodiscard]] std::vector<std::string> strings_of(session& with, const filter_identity& f,
                                                  std::uint32_t partition);

/// Takes off the time limits that the keys of a filter have during its creation, that of the header last:
/// while the header has one, the creation is unfinished, and any client that opens the filter to write
/// finishes it.
/// @throws storage_error  a state is gone    @throws backend_error, format_error
void make_permanent(session& with, const filter_identity& f);

/// Stops all additions to a filter for good.
/// @param successor  receives further keys; the filter itself, if it is being removed
/// @return false  a state is gone
/// @throws format_error  one was sealed for another filter    @throws backend_error
[[nodiscard]] bool seal(session& with, const filter_identity& f, const image::filter_id& successor);

/// Removes all keys of a partition, in one step; repairs a damaged one.
/// @throws storage_error  the filter was dropped, or is being rebuilt    @throws parameter_error  it has a
///   job
/// @throws backend_error
void empty_partition(session& with, const filter_identity& f, std::uint32_t partition);

}  // namespace everseen::redis
