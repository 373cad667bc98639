#pragma once

#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"

namespace everseen {

/// Who adds the keys. A filter with jobs cannot be rebuilt, as the answers that the jobs were given must stay
/// true.
enum class adder { anybody, job };

/// Completes the message about a full filter by the command that makes room: what it is depends on the store.
/// Leaves other failures as they are, and a message of everseen serve, which is complete.
void name_remedy(batch_failure& failure, const filter& f, adder who = adder::anybody);

}  // namespace everseen
