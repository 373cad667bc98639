#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

// Operations on a whole partition, for both kinds of judges.

/// The call that makes the state of a partition (staging_scripts::create), with a time limit, unless it
/// exists: the hash beside the journal, whose segments must be there, or the value that its server judges,
/// whose bits are then zero.
[[nodiscard]] script_call first_call(const filter_identity& f, std::uint32_t partition,
                                     const partition_state& s);

/// The keys of a partition besides its state, and besides the records of jobs of a filter that servers
/// judge. Cost: one round trip.
/// @throws storage_error  the state is gone    @throws backend_error, format_error
[[nodiscard]] std::vector<std::string> keys_beside(server_connections& connections, const filter_identity& f,
                                                   std::uint32_t partition);

/// Whether the states of all partitions are there. Cost: one round trip.    @throws backend_error
[[nodiscard]] bool has_all_partitions(server_connections& connections, const filter_identity& f);

/// Takes off the time limits that the keys of a filter have during its creation, that of the header last:
/// while the header has one, the creation is unfinished, and any client that opens the filter to write
/// finishes it.
/// @throws storage_error  a state is gone    @throws backend_error, format_error
void make_permanent(server_connections& connections, const filter_identity& f);

/// Stops all additions to a filter for good.
/// @param successor  receives further keys; the filter itself, if it is being removed
/// @return false  a state is gone
/// @throws format_error  one was sealed for another filter    @throws backend_error
[[nodiscard]] bool seal(server_connections& connections, const filter_identity& f,
                        const image::filter_id& successor);

/// Removes all keys of a partition, in one step; repairs a damaged journal.
/// @throws storage_error  the filter was dropped, or is being rebuilt
/// @throws parameter_error  it has a job, and its clients judge
/// @throws backend_error, format_error
void empty_partition(server_connections& connections, const filter_identity& f, std::uint32_t partition);

}  // namespace everseen::redis
