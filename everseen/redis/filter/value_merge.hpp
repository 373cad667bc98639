#pragma once

#include <cstdint>
#include <span>

#include "everseen/core/partition/sibling.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// Adds all keys of a partition of siblings to the value of this partition, in one step.
///
/// Their bits are first sent to a value beside it, piece by piece, with a time limit, so an abandoned one
/// disappears.
/// @param siblings  as partition::merge
/// @throws full_error       they do not fit; nothing was added
/// @throws storage_error    the filter was dropped or sealed    @throws parameter_error  as must_be_siblings
/// @throws backend_error, format_error  they may have been added
void merge_into_value(server_connections& connections, const filter_identity& f, std::uint32_t partition,
                      std::span<const sibling_segment> siblings);

}  // namespace everseen::redis
