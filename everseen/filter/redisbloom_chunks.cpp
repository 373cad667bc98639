#include "everseen/filter/redisbloom_chunks.hpp"

#include <algorithm>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"

namespace everseen {

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
