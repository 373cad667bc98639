#pragma once

#include <cstdint>

#include "everseen/filter/filter_chunks.hpp"

namespace everseen {

/// dump_chunk() for a filter with RedisBloom's layout.    @throws parameter_error  it has another
[[nodiscard]] filter_chunk dump_redisbloom(const filter& f, std::int64_t iterator);

}  // namespace everseen
