#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/filter/filter_chunks.hpp"

namespace everseen {

/// dump_chunk() for a filter with RedisBloom's layout.    @throws parameter_error  it has another
[[nodiscard]] filter_chunk dump_redisbloom(const filter& f, std::int64_t iterator);

/// @param header  the first chunk of RedisBloom's BF.SCANDUMP
/// @throws format_error, parameter_error  as import_redisbloom
[[nodiscard]] announced_filter announced_by_redisbloom(std::span<const std::byte> header);

/// The header, and whether its layers have bits. Layers of a filter without keys are all zero.
struct redisbloom_announcement {
  redisbloom::announced_chain chain;
  bool has_bits = true;
};
/// @throws parameter_error  it has another layout
[[nodiscard]] redisbloom_announcement announce_redisbloom(const filter& f);

using layer_visitor = std::function<void(std::size_t layer, std::span<const std::byte> bits)>;

/// Calls `visit` for the announced layers, in order.
///
/// Keys added since may be in the bits; layers created since are skipped. If a layer has fewer keys than
/// announced, the filter was emptied since.
/// @throws storage_error  the filter was emptied
void visit_announced(const filter& f, const redisbloom_announcement& a, const layer_visitor& visit);

}  // namespace everseen
