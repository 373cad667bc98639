#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "everseen/core/base/error.hpp"

#include "module/value/filter_value.hpp"

/// A filter as BF.SCANDUMP returns it and BF.LOADCHUNK takes it: pairs of an iterator and bytes.
///
/// RedisBloom's chunks for a filter of its layout, else our own (doc/format.md, "Chunks"). They are the only
/// image of a value: an RDB has them in a row, an AOF as commands, and a new filter goes to replicas as its
/// header. Ours also carry the number of the partition and the successor of a sealed value.
namespace everseen::redis_module {

/// A chunk of other content than the value's.
struct other_content : format_error {
  using format_error::format_error;
};

struct value_chunk {
  std::int64_t iterator = 0;  ///< 0: the end
  std::vector<std::byte> bytes{};
};

/// Of a filter with everseen's layouts, or of RedisBloom's.
[[nodiscard]] value_chunk chunk_after(const filter_value& filter, std::int64_t iterator,
                                      std::uint64_t most_bytes);
/// The same in a series of calls, of which each would list all segments.    @param all  filter.announced()
[[nodiscard]] value_chunk chunk_after(const filter_value& filter, const announced_filter& all,
                                      std::int64_t iterator, std::uint64_t most_bytes);

/// The filter of a header, the chunk 1, with zeroed bits.
/// @throws format_error, parameter_error  it is damaged, or not of a filter that can be one value
[[nodiscard]] announced_filter announced_by(std::span<const std::byte> header);

/// Adds the bits of a chunk after the header to those that are set. So no key is lost that was added
/// meanwhile.
/// @return how many bytes of bits; 0: of a slice that the window has left meanwhile, so nothing has changed
/// @throws other_content  the chunk is of other content    @throws format_error  it is damaged, or not of
/// this
///         filter; nothing has changed
std::uint64_t load_chunk(filter_value& filter, std::int64_t iterator, std::span<const std::byte> bytes);

}  // namespace everseen::redis_module
