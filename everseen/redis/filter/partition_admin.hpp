#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

// Operations on a whole partition, for both kinds of judges.

/// The call that makes the state of a partition of a draft (draft_scripts, below), unless it exists: the hash
/// beside the journal, or the value that its server judges, whose bits are then zero.
[[nodiscard]] script_call first_call(const filter_identity& f, std::uint32_t partition,
                                     const partition_state& s);
/// The same of a value with this header, at any key in the slot of its partition.
/// @param life_ms  the time limit of the key
[[nodiscard]] script_call first_call(const std::string& key, const announced_filter& header,
                                     std::string_view life_ms);

/// The keys of a partition besides its state, and besides the records of jobs of a filter that servers
/// judge. Cost: one round trip.
/// @throws storage_error  the state is gone    @throws backend_error, format_error
[[nodiscard]] std::vector<std::string> keys_beside(server_connections& connections, const filter_identity& f,
                                                   std::uint32_t partition);

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

namespace everseen::redis::draft_scripts {

/// Scripts that create the keys of a filter before a name leads to it. Each can be repeated, and a delayed
/// copy that arrives when the filter is in use changes nothing.

/// Creates the state or the value of a partition, unless it exists.
/// KEYS state or value    ARGV its time limit in ms, the command that makes it, what follows the key there
/// Returns 1 done, 0 it exists.
[[nodiscard]] const script& begin_partition();

/// Writes a page of a segment of a filter that its clients judge, as long as its partition has no state.
/// KEYS segment, state    ARGV offset of the page, its bytes, the segment's time limit in ms
/// Returns 1 done, 0 there is a state.
[[nodiscard]] const script& write_page();

/// Extends the life of a segment or of a value, unless it lives longer: then it may be in use.
/// KEYS segment or value    ARGV lifetime in ms    Returns 1; 0 it does not exist.
[[nodiscard]] const script& prolong();

}  // namespace everseen::redis::draft_scripts
