#include "module/value/filter_chunks.hpp"

#include <algorithm>
#include <string>

#include "everseen/compat/bitmap/bit_order.hpp"
#include "everseen/compat/redisbloom/chain_spec.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/format/chunk_places.hpp"

namespace everseen::redis_module {

namespace {

namespace redisbloom = compat::redisbloom;

bool is_redisbloom(const filter_value& filter) noexcept {
  return filter.get_spec().layout == layout_kind::redisbloom;
}

value_chunk header_of(const filter_value& filter) {
  if (is_redisbloom(filter))
    return {1, redisbloom::encode_header(redisbloom::chain_of(filter.get_spec(), filter.state()))};
  return {1, image::encode_chunk_header(filter.announced())};
}

}  // namespace

value_chunk chunk_after(const filter_value& filter, std::int64_t iterator, std::uint64_t most_bytes) {
  if (iterator == 0) return header_of(filter);
  const announced_filter all = filter.announced();
  const auto place = image::place_after(all.segments, iterator);
  if (!place) return {};
  const auto rest = filter.bits(place->segment).subspan(place->offset);
  const auto bits = rest.first(std::min<std::uint64_t>(most_bytes, rest.size()));
  value_chunk made{iterator + static_cast<std::int64_t>(bits.size())};
  made.bytes.reserve(bits.size() + image::chunk_trailer_bytes);
  made.bytes.assign(bits.begin(), bits.end());
  if (is_redisbloom(filter))
    compat::reverse_bits_of_bytes(made.bytes, made.bytes);
  else
    image::append_chunk_trailer(made.bytes, all.copy, all.segments[place->segment], place->offset);
  return made;
}

announced_filter announced_by(std::span<const std::byte> header) {
  if (!image::is_chunk_header(header)) return redisbloom::filter_of(redisbloom::decode_header(header));
  announced_filter own = image::decode_chunk_header(header);
  if (is_foreign(own.spec.layout))  // its type would be the other one, whose data is encoded otherwise
    throw format_error("not the chunks of a filter: they have the layout of another system");
  return own;
}

std::uint64_t load_chunk(filter_value& filter, std::int64_t iterator, std::span<const std::byte> bytes) {
  const announced_filter all = filter.announced();
  const bool theirs = is_redisbloom(filter);
  if (!theirs && bytes.size() <= image::chunk_trailer_bytes)
    throw format_error("not the chunks of a filter: chunk " + std::to_string(iterator) + " is cut off");
  const std::uint64_t count = theirs ? bytes.size() : bytes.size() - image::chunk_trailer_bytes;
  const image::chunk_place at = image::place_of_chunk(all.segments, iterator, count);
  announced_filter::segment of = all.segments[at.segment];
  of.layer.keys =
      0;  // keys that were added here meanwhile make no difference: another filter has another copy
  std::vector<std::byte> reversed(theirs ? bytes.size() : 0);
  if (theirs) compat::reverse_bits_of_bytes(bytes, reversed);
  const auto bits = theirs ? std::span<const std::byte>(reversed)
                           : image::without_chunk_trailer(bytes, all.copy, of, at.offset);
  const auto to = filter.bits(at.segment).subspan(at.offset, count);
  for (std::size_t i = 0; i < bits.size(); ++i) to[i] |= bits[i];
  return count;
}

}  // namespace everseen::redis_module
