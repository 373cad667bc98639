#include "module/value/filter_chunks.hpp"

#include <algorithm>
#include <string>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"

namespace everseen::redis_module {

namespace {

value_chunk header_of(const filter_value& filter) {
  if (filter.is_redisbloom())
    return {1, redisbloom::encode_header(redisbloom::chain_of(filter.get_spec(), filter.state()))};
  return {1, image::encode_chunk_header(filter.announced())};
}

void add_bits(std::span<std::byte> out, std::span<const std::byte> bits) noexcept {
  for (std::size_t i = 0; i < bits.size(); ++i) out[i] |= bits[i];
}

/// RedisBloom's chunks show their place by the iterator alone.
std::uint64_t load_theirs(filter_value& filter, std::int64_t iterator, std::span<const std::byte> bytes) {
  const image::chunk_place place = image::place_of_chunk(filter.announced().segments, iterator, bytes.size());
  std::vector<std::byte> reversed(bytes.size());
  reverse_bits_of_bytes(bytes, reversed);
  add_bits(filter.bits(place.segment).subspan(place.offset), reversed);
  return bytes.size();
}

/// Ours name their segment. The iterator would not do: while they are loaded, keys may be added, and slices
/// with them.
std::uint64_t load_ours(filter_value& filter, std::int64_t iterator, std::span<const std::byte> bytes) {
  const auto refuse = [&](const char* why) {
    throw format_error("not the chunks of a filter: chunk " + std::to_string(iterator) + why);
  };
  const image::chunk_bits chunk = image::decode_chunk(bytes);
  if (chunk.content != filter.content())
    throw other_content(
        "a chunk is of another filter, or of another copy that was begun under the same name");
  if (chunk.bits.empty() || iterator <= static_cast<std::int64_t>(chunk.bits.size())) refuse(" has no bits");
  if (chunk.id.partition != filter.number()) refuse(" is of another partition");
  const auto& slices = filter.state().slices;
  if (filter.get_spec().window && !slices.empty() &&
      chunk.id.slice < window::oldest_live(*filter.get_spec().window, slices.back().index))
    return 0;
  const std::span<std::byte> segment = filter.bits_of(chunk.id);
  if (segment.empty()) refuse(" is of no segment that its header announced");
  if (chunk.offset > segment.size() || chunk.bits.size() > segment.size() - chunk.offset)
    refuse(" does not end with its segment");
  add_bits(segment.subspan(chunk.offset), chunk.bits);
  filter.count_at_least(chunk.id, chunk.keys);  // keys that were added while the chunks were made
  return chunk.bits.size();
}

}  // namespace

value_chunk chunk_after(const filter_value& filter, std::int64_t iterator, std::uint64_t most_bytes) {
  return chunk_after(filter, filter.announced(), iterator, most_bytes);
}

value_chunk chunk_after(const filter_value& filter, const announced_filter& all, std::int64_t iterator,
                        std::uint64_t most_bytes) {
  if (iterator == 0) return header_of(filter);
  const auto place = image::place_after(all.segments, iterator);
  if (!place) return {};
  const auto rest = filter.bits(place->segment).subspan(place->offset);
  const auto bits = rest.first(std::min<std::uint64_t>(most_bytes, rest.size()));
  value_chunk made{iterator + static_cast<std::int64_t>(bits.size())};
  made.bytes.reserve(bits.size() + image::chunk_trailer_bytes);
  made.bytes.assign(bits.begin(), bits.end());
  if (filter.is_redisbloom())
    reverse_bits_of_bytes(made.bytes, made.bytes);
  else
    image::append_chunk_trailer(made.bytes, all.content, all.segments[place->segment], place->offset);
  return made;
}

announced_filter announced_by(std::span<const std::byte> header) {
  if (!image::is_chunk_header(header)) return redisbloom::filter_of(redisbloom::decode_header(header));
  return image::decode_chunk_header(header);
}

std::uint64_t load_chunk(filter_value& filter, std::int64_t iterator, std::span<const std::byte> bytes) {
  return filter.is_redisbloom() ? load_theirs(filter, iterator, bytes) : load_ours(filter, iterator, bytes);
}

}  // namespace everseen::redis_module
