// The siblings of a partition: all their keys in it, by their bits, directly or by records of its journal.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen {

/// The segment that is to get the bits of others, and what all have together.
struct partition::counterpart {
  std::uint64_t capacity = 0;
  segment_union all{};
  bool has_all = false;    ///< no bit of the others is new
  std::uint64_t keys = 0;  ///< its own
};

partition::counterpart partition::counterpart_of(std::span<const sibling_segment> same) const {
  const segment_id& id = same.front().id;
  const growth::layer_plan plan = growth::plan_layer(spec_, id.layer);
  const layer_state* const existing = find_layer(id);
  const layer_state mine = existing == nullptr ? layer_state{plan.shape, plan.capacity, 0} : *existing;
  for (const sibling_segment& each : same)
    if (each.layer.shape != mine.shape || each.layer.capacity != mine.capacity ||
        each.bits.size() != mine.shape.bytes)
      throw parameter_error("the filters differ in the size of layer " + std::to_string(id.layer) +
                            "; they cannot be merged");
  if (existing == nullptr) return {mine.capacity, union_of(same), false, 0};
  const sibling_segment own = {id, mine, {place_.at(id), static_cast<std::size_t>(mine.shape.bytes)}};
  std::vector<sibling_segment> all(same.begin(), same.end());
  all.push_back(own);
  counterpart found = {mine.capacity, union_of(all), false, mine.keys};
  found.has_all = found.all.keys == union_of(std::span(&own, 1)).keys;
  return found;
}

std::uint64_t partition::keys_with_all(const counterpart& mine) const noexcept {
  const std::uint64_t keys = mine.all.count();
  if (spec_.growth == growth_kind::overfill) return keys;
  return std::max(mine.keys, std::min(keys, mine.capacity));
}

namespace {

void add_bits(std::span<const std::byte> bits, std::byte* into) noexcept {
  std::transform(bits.begin(), bits.end(), into, into, std::bit_or<>());
}

[[noreturn]] void throw_too_many(const segment_union& all, std::uint64_t capacity) {
  throw full_error("together a layer would have " + std::to_string(all.count()) +
                   " keys instead of at most " + std::to_string(capacity));
}

/// Calls visit(same) for the segments of each id.
template <typename Visit>
void for_each_id(std::span<const sibling_segment> siblings, Visit visit) {
  for (std::size_t from = 0, end = 0; from < siblings.size(); from = end) {
    while (end < siblings.size() && siblings[end].id == siblings[from].id) ++end;
    visit(siblings.subspan(from, end - from));
  }
}

}  // namespace

void partition::must_fit(std::span<const sibling_segment> siblings) const {
  if (siblings.empty()) return;
  const window::slice_index newest = newest_or(siblings.back().id.slice);
  for_each_id(siblings, [&](std::span<const sibling_segment> same) {
    if (spec_.window && same.front().id.slice < window::oldest_live(*spec_.window, newest)) return;
    const counterpart mine = counterpart_of(same);
    if (spec_.growth == growth_kind::overfill || mine.has_all || mine.all.fits(mine.capacity)) return;
    throw_too_many(mine.all, mine.capacity);
  });
}

bool partition::merge(std::span<const sibling_segment> siblings) {
  bool changes = false;
  // The newest slice first, so that no older one is filled only to be dropped.
  if (!siblings.empty() && !is_late(siblings.back().id.slice)) {
    changes = find_layer(siblings.back().id) == nullptr;
    open_slice(siblings.back().id.slice);
  }
  for_each_id(siblings, [&](std::span<const sibling_segment> same) {
    const segment_id& id = same.front().id;
    if (is_late(id.slice)) return;
    slice_state& slice = open_slice(id.slice);
    while (slice.layers.size() <= id.layer) {
      grow(slice);
      changes = true;
    }
    const counterpart mine = counterpart_of(same);
    if (mine.has_all) return;
    layer_state& layer = slice.layers[id.layer];
    const std::uint64_t keys = keys_with_all(mine);
    place_.expect_keys(id, keys);
    for (const sibling_segment& each : same) add_bits(each.bits, place_.at(id));
    layer.keys = keys;
    place_.note_keys(id, keys);
    changes = true;
  });
  return changes;
}

namespace {

/// Shorter than the head of a piece, runs of bits would be longer for it.
constexpr std::size_t step_bytes = 64;

/// Steps of siblings that have bits which a segment lacks, one after the other.
class lacking_bits {
 public:
  /// @param mine  the segment's bits; null: it has none
  lacking_bits(std::span<const sibling_segment> same, const std::byte* mine) : same_(same), mine_(mine) {}

  /// The next run of them.    @param most  bytes, but at least a step    @return false  there is none
  bool next(std::size_t most) {
    const std::size_t end = same_.front().bits.size();
    for (from_ = end_; from_ < end && !lacks(from_);) from_ += step_bytes;
    for (end_ = from_; end_ < end && (end_ == from_ || end_ - from_ + step_bytes <= most) && lacks(end_);)
      end_ = std::min(end, end_ + step_bytes);
    return from_ < end;
  }
  [[nodiscard]] std::size_t offset() const noexcept { return from_; }
  /// The bits of all siblings.
  [[nodiscard]] std::string bits() const {
    std::string all(end_ - from_, '\0');
    for (const sibling_segment& each : same_)
      add_bits(each.bits.subspan(from_, all.size()), reinterpret_cast<std::byte*>(all.data()));
    return all;
  }

 private:
  [[nodiscard]] bool lacks(std::size_t from) const noexcept {
    const std::size_t end = std::min(from + step_bytes, same_.front().bits.size());
    std::byte lacking{};
    for (const sibling_segment& each : same_)
      for (std::size_t i = from; i < end; ++i)
        lacking |= each.bits[i] & ~(mine_ == nullptr ? std::byte{} : mine_[i]);
    return lacking != std::byte{};
  }

  std::span<const sibling_segment> same_;
  const std::byte* mine_;
  std::size_t from_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

journal_record partition::next_merge(std::span<const sibling_segment> siblings, std::size_t most) const {
  journal_record r;
  if (siblings.empty()) return r;
  r.newest = newest_or(siblings.back().id.slice);
  std::size_t of_counts = 0;  // each segment may need a piece that only counts
  for_each_id(siblings, [&](auto) { of_counts += journal_piece_head_bytes; });
  std::size_t room = most - std::min(most, of_counts);
  bool has_bits = false;
  for_each_id(siblings, [&](std::span<const sibling_segment> same) {
    const segment_id& id = same.front().id;
    if (spec_.window && id.slice < window::oldest_live(*spec_.window, r.newest)) return;
    const counterpart mine = counterpart_of(same);
    if (mine.has_all) return;
    // Another merge counted its keys before its bits came. Not more strictly, as others may have used the
    // whole room that this one left, and the estimate varies.
    if (spec_.growth != growth_kind::overfill && sizing::is_more_than_chance(mine.all.keys, mine.capacity))
      throw_too_many(mine.all, mine.capacity);
    const bool exists = find_layer(id) != nullptr;
    const std::uint64_t keys = keys_with_all(mine);
    if (!exists || keys != mine.keys) r.pieces.push_back({id.slice, id.layer, keys, 0, {}});
    lacking_bits lacking(same, exists ? place_.at(id) : nullptr);
    constexpr std::size_t least = journal_piece_head_bytes + step_bytes;
    while ((room >= least || !has_bits) && lacking.next(room - std::min(room, journal_piece_head_bytes))) {
      r.pieces.push_back({id.slice, id.layer, keys, lacking.offset(), lacking.bits()});
      room -= std::min(room, journal_piece_head_bytes + r.pieces.back().bits.size());
      has_bits = true;
    }
  });
  return r;
}

/// Like the keys of a record, its counts do not depend on bits, which may hold those of later records.
void partition::apply(const journal_record::piece& piece) {
  const auto refuse = [] {
    throw format_error("a record of the journal has bits for which the filter has no place");
  };
  const segment_id id = {number_, piece.slice, piece.layer};
  std::uint64_t bytes = 0;
  try {
    // Another system may have chosen another size than the one that is planned here.
    const layer_state* const existing = find_layer(id);
    bytes = existing != nullptr ? existing->shape.bytes : growth::plan_layer(spec_, piece.layer).shape.bytes;
  } catch (const full_error&) {
    refuse();
  }
  if (piece.offset > bytes || piece.bits.size() > bytes - piece.offset) refuse();
  slice_state& slice = open_slice(piece.slice);
  while (slice.layers.size() <= piece.layer) grow(slice);
  layer_state& layer = slice.layers[piece.layer];
  const bool is_bounded = spec_.growth != growth_kind::overfill;
  if (piece.keys < layer.keys || (is_bounded && piece.keys > std::max(layer.keys, layer.capacity))) refuse();
  place_.expect_keys(id, piece.keys);
  add_bits(std::as_bytes(std::span(piece.bits)), place_.at(id) + piece.offset);
  layer.keys = piece.keys;
  place_.note_keys(id, piece.keys);
}

}  // namespace everseen
