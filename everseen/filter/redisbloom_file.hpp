#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "everseen/core/format/announced_filter.hpp"
#include "everseen/filter/filter_chunks.hpp"

namespace everseen {

/// dump_chunk() for a filter with RedisBloom's layout.    @throws parameter_error  it has another
[[nodiscard]] filter_chunk dump_redisbloom(const filter& f, std::int64_t iterator);

/// @param header  the first chunk of RedisBloom's BF.SCANDUMP
/// @throws format_error, parameter_error  as import_redisbloom
[[nodiscard]] announced_filter announced_by_redisbloom(std::span<const std::byte> header);

}  // namespace everseen
