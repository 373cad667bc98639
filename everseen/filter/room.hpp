#pragma once

#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// Who adds the keys. A filter with jobs cannot be rebuilt, as the answers that the jobs were given must stay
/// true.
enum class adder { anybody, job };

/// Completes the message about a full filter by the command that makes room, which needs the filter's name.
/// Leaves other failures as they are, and a message of everseen serve, which is complete.
void name_remedy(batch_failure& failure, std::string_view name, const spec& s, adder who = adder::anybody);

}  // namespace everseen
