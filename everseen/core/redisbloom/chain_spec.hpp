#pragma once

#include "everseen/core/format/announced_filter.hpp"
#include "everseen/core/partition/partition_state.hpp"
#include "everseen/core/redisbloom/redisbloom_dump.hpp"
#include "everseen/core/spec/spec.hpp"

/// A chain of RedisBloom as a filter of the core, which judges and grows as RedisBloom would, and back.
namespace everseen::redisbloom {

/// @throws format_error  a layer is not the one that RedisBloom would have made there, so its growth could
/// not be
///         continued
/// @throws parameter_error  its error rate or its probes are beyond what everseen supports
[[nodiscard]] announced_filter filter_of(const announced_chain& chain);

/// A filter without keys has its first layer, with zeros.    @pre s.layout is RedisBloom's
[[nodiscard]] announced_chain chain_of(const spec& s, const partition_state& state);

}  // namespace everseen::redisbloom
