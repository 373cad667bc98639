#include "everseen/filter/filter_chunks.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"

namespace everseen {

namespace {

/// Limits the memory for chunks that arrive out of order.
constexpr std::size_t most_ranges = 4096;

[[noreturn]] void refuse_chunks(const std::string& why) {
  throw format_error("not the chunks of a filter: " + why);
}

announced_filter announced_by(std::span<const std::byte> header) {
  return image::is_chunk_header(header) ? image::decode_chunk_header(header)
                                        : announced_by_redisbloom(header);
}

std::vector<std::uint64_t> lengths_of(const announced_filter& f) {
  std::vector<std::uint64_t> lengths;
  for (const auto& s : f.segments) lengths.push_back(s.layer.shape.bytes);
  return lengths;
}

/// @throws parameter_error  the bits are another program's, which may change them meanwhile
void must_have_own_bits(const filter& f) {
  if (f.stored().estimates_keys())
    throw parameter_error(
        quoted_name(f.name()) +
        " is attached: its bits are another program's, and are exported where they are kept");
}

void append_segments(const filter& f, std::uint32_t partition, std::vector<announced_filter::segment>& out) {
  std::ranges::copy(segments_of(partition, f.stored().state(partition).slices), std::back_inserter(out));
}

/// @param iterator  1 and the number of bytes of these segments before the chunk
filter_chunk chunk_of(const filter& f, std::span<const announced_filter::segment> segments,
                      std::int64_t iterator, std::uint64_t most_bytes) {
  const auto place = image::place_after(segments, iterator);
  if (!place) return {};
  const std::uint64_t position = place->offset;
  announced_filter::segment wanted = segments[place->segment];
  const std::uint64_t count =
      std::min({std::uint64_t{image::max_chunk_bits_bytes}, most_bytes, wanted.layer.shape.bytes - position});
  filter_chunk chunk{iterator + static_cast<std::int64_t>(count)};
  f.stored().visit_segments(wanted.id.partition, [&](const segment_id& id, const layer_state& layer,
                                                     std::span<const std::byte> bits) {
    if (id != wanted.id || bits.size() != wanted.layer.shape.bytes) return;
    wanted.layer.keys = layer.keys;
    const auto piece = bits.subspan(position, count);
    chunk.bytes.reserve(count + image::chunk_trailer_bytes);
    chunk.bytes.insert(chunk.bytes.end(), piece.begin(), piece.end());
  });
  if (chunk.bytes.empty())
    throw storage_error(quoted_name(f.name()) + " was emptied while it was copied; copy it again", 0,
                        f.name());
  image::append_chunk_trailer(chunk.bytes, image::dumped_content(f.get_spec()), wanted, position);
  return chunk;
}

}  // namespace

filter_chunk dump_chunk(const filter& f, std::int64_t iterator) {
  must_have_own_bits(f);
  if (f.get_spec().layout == layout_kind::redisbloom) return dump_redisbloom(f, iterator);
  if (is_foreign(f.get_spec().layout))
    throw parameter_error(quoted_name(f.name()) + " has the layout of another system, which has no chunks");
  announced_filter all{f.get_spec()};
  all.content = image::dumped_content(all.spec);
  for (std::uint32_t partition = 0; partition < all.spec.partitions; ++partition)
    append_segments(f, partition, all.segments);
  if (iterator == 0) return {1, image::encode_chunk_header(all)};
  return chunk_of(f, all.segments, iterator, image::max_chunk_bits_bytes);
}

/// The strings of another program may have any length; a header has whole lines.
announced_filter announce_partition(const filter& f, std::uint32_t partition) {
  announced_filter one{f.get_spec()};
  one.content = image::dumped_content(one.spec);
  one.partition = partition;
  append_segments(f, partition, one.segments);
  for (announced_filter::segment& each : one.segments) {
    const std::uint64_t unit = length_unit(each.layer.shape.layout);
    each.layer.shape.bytes = (each.layer.shape.bytes + unit - 1) / unit * unit;
  }
  return one;
}

filter_chunk dump_partition(const filter& f, std::uint32_t partition, std::int64_t iterator,
                            std::uint64_t most_bytes) {
  must_have_own_bits(f);
  return chunk_of(f, announce_partition(f, partition).segments, iterator, most_bytes);
}

chunk_loader::chunk_loader(store& into, std::string_view name, std::span<const std::byte> header)
    : announced_(announced_by(header)) {
  must_have_room(into, lengths_of(announced_));
  restored_ = into.begin_restore(name, announced_.spec);
}

std::span<std::byte> chunk_loader::bits_of(const image::chunk_place& place, std::uint64_t bytes) {
  while (made_.size() <= place.segment) {
    const auto& [id, layer] = announced_.segments[made_.size()];
    made_.push_back(restored_->add_segment(id, layer));
    bytes_made_ += layer.shape.bytes;
  }
  return made_[place.segment].subspan(place.offset, bytes);
}

void chunk_loader::note_loaded(std::uint64_t begin, std::uint64_t end) {
  auto next = loaded_.upper_bound(begin);
  if (next != loaded_.begin() && std::prev(next)->second >= begin) {
    --next;
    begin = next->first;
  }
  while (next != loaded_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = loaded_.erase(next);
  }
  if (loaded_.size() == most_ranges)
    refuse_chunks("its chunks come in too many separate pieces; send them in order");
  loaded_.emplace(begin, end);
}

std::span<std::byte> chunk_loader::place(std::int64_t iterator, std::uint64_t bytes) {
  const std::span<std::byte> bits =
      bits_of(image::place_of_chunk(announced_.segments, iterator, bytes), bytes);
  const auto end = static_cast<std::uint64_t>(iterator) - 1;
  note_loaded(end - bytes, end);
  return bits;
}

void chunk_loader::load(std::int64_t iterator, std::span<const std::byte> bytes) {
  if (announced_.is_redisbloom) {
    reverse_bits_of_bytes(bytes, place(iterator, bytes.size()));
    return;
  }
  if (bytes.size() <= image::chunk_trailer_bytes)
    refuse_chunks("chunk " + std::to_string(iterator) + " is cut off");
  const std::uint64_t count = bytes.size() - image::chunk_trailer_bytes;
  const image::chunk_place target = image::place_of_chunk(announced_.segments, iterator, count);
  const auto bits = image::without_chunk_trailer(bytes, announced_.content,
                                                 announced_.segments[target.segment], target.offset);
  std::ranges::copy(bits, place(iterator, count).begin());
}

bool chunk_loader::is_complete() const noexcept {
  const std::uint64_t all = announced_.bit_bytes();
  return all == 0 ||
         (loaded_.size() == 1 && *loaded_.begin() == std::pair<const std::uint64_t, std::uint64_t>(0, all));
}

void chunk_loader::commit() {
  if (!is_complete()) refuse_chunks("it is cut off: some are missing");
  restored_->commit();
}

void must_have_room(const store& into, std::span<const std::uint64_t> segments) {
  if (segments.empty()) return;
  const std::uint64_t longest = *std::ranges::max_element(segments);
  const store_traits has = into.traits();
  if (const auto most = has.longest_segment_bytes; most && longest > *most)
    throw parameter_error("the filter has a bit array of " + std::to_string(longest) +
                          " bytes, which cannot be divided, and the store allows at most " +
                          std::to_string(*most) + "; use a file: store, or migrate the keys");
  const std::uint64_t bytes = std::accumulate(segments.begin(), segments.end(), std::uint64_t{0});
  const auto room = has.room_bytes;
  if (!room || bytes <= *room) return;
  throw parameter_error("the file is of a filter of " + std::to_string(bytes) +
                        " bytes, and the store has room for " + std::to_string(*room) +
                        "; make room, or use another store");
}

parameter_error no_such_export(const filter& f, std::string_view system, std::string_view layout) {
  return parameter_error(quoted_name(f.name()) + " has the layout " +
                         std::string(to_string(f.get_spec().layout)) + ", which " + std::string(system) +
                         " cannot read; add the keys to a filter made by everseen create --as " +
                         std::string(layout));
}

namespace {

[[noreturn]] void emptied_meanwhile(const filter& f) {
  throw storage_error(quoted_name(f.name()) + " was emptied while it was copied; copy it again", 0, f.name());
}

}  // namespace

announced_filter announced_by_redisbloom(std::span<const std::byte> header) {
  return redisbloom::filter_of(redisbloom::decode_header(header));
}

redisbloom_announcement announce_redisbloom(const filter& f) {
  if (f.get_spec().layout != layout_kind::redisbloom) throw no_such_export(f, "RedisBloom", "redisbloom");
  const partition_state state = f.stored().state(0);
  return {redisbloom::chain_of(f.get_spec(), state), state.bytes() > 0};
}

void visit_announced(const filter& f, const redisbloom_announcement& a, const layer_visitor& visit) {
  const auto& layers = a.chain.shape.layers;
  std::size_t next = 0;
  f.stored().visit_segments(
      0, [&](const segment_id& id, const layer_state& layer, std::span<const std::byte> bits) {
        if (id.layer >= layers.size()) return;
        if (id.layer != next || layer.keys < layers[next].keys || bits.size() != a.chain.lengths[next])
          emptied_meanwhile(f);
        visit(next++, bits);
      });
  if (a.has_bits && next < layers.size()) emptied_meanwhile(f);
}

filter_chunk dump_redisbloom(const filter& f, std::int64_t iterator) {
  const redisbloom_announcement announced = announce_redisbloom(f);
  if (iterator == 0) return {1, redisbloom::encode_header(announced.chain)};
  if (iterator < 0) return {};
  const std::span<const std::uint64_t> lengths = announced.chain.lengths;
  auto found = static_cast<std::uint64_t>(iterator - 1);
  std::size_t wanted = 0;
  while (wanted < lengths.size() && found >= lengths[wanted]) found -= lengths[wanted++];
  if (wanted == lengths.size()) return {};
  const std::uint64_t count = std::min<std::uint64_t>(redisbloom::max_chunk_bytes, lengths[wanted] - found);
  filter_chunk chunk{iterator + static_cast<std::int64_t>(count), std::vector<std::byte>(count)};
  visit_announced(f, announced, [&](std::size_t layer, std::span<const std::byte> bits) {
    if (layer == wanted) reverse_bits_of_bytes(bits.subspan(found, count), chunk.bytes);
  });
  return chunk;
}

}  // namespace everseen
