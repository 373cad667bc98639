#include "everseen/core/partition/slice_groups.hpp"

#include <algorithm>

#include "everseen/core/base/assert.hpp"

namespace everseen {

namespace {

struct entry {
  window::slice_index slice;
  std::uint16_t key;
};

/// Finds key indexes by digest. At most half full, so that probe sequences are short.
class digest_table {
 public:
  digest_table() noexcept { numbers_.fill(none); }

  /// Returns the index of the first equal digest; if there is none, inserts `number` and returns it.
  std::uint16_t first_of(std::span<const digest> keys, std::uint16_t number) noexcept {
    const digest& key = keys[number];
    // Keys of one partition share bits of `low`, and may share more; the product spreads any difference.
    std::size_t position = (key.low ^ key.high) * 0x9e3779b97f4a7c15U >> (64 - bits);
    for (; numbers_[position] != none; position = (position + 1) % places)
      if (keys[numbers_[position]] == key) return numbers_[position];
    return numbers_[position] = number;
  }

 private:
  static constexpr unsigned bits = 12;
  static constexpr std::size_t places = std::size_t{1} << bits;
  static_assert(places >= 2 * slice_groups::max_keys);
  static constexpr std::uint16_t none = 0xffff;

  std::array<std::uint16_t, places> numbers_;
};

}  // namespace

slice_groups::slice_groups(std::span<const digest> keys, const std::uint16_t* places,
                           std::span<const window::slice_index> slices) noexcept {
  EVERSEEN_ASSERT(keys.size() <= max_keys);
  const auto place = [&](std::size_t i) {
    return places == nullptr ? static_cast<std::uint16_t>(i) : places[i];
  };
  digest_table table;
  std::array<entry, max_keys> order;
  for (std::uint16_t i = 0; i < keys.size(); ++i) {
    const std::uint16_t first = table.first_of(keys, i);
    if (first == i)
      order[firsts_++] = {slices[place(i)], i};
    else
      repeats_[repeats_count_++] = {place(i), place(first)};
  }
  // By slice, then by index: stable.
  std::sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(firsts_),
      [](const entry& a, const entry& b) { return a.slice != b.slice ? a.slice < b.slice : a.key < b.key; });
  for (std::size_t i = 0; i < firsts_; ++i) {
    sorted_[i] = keys[order[i].key];
    slice_of_[i] = order[i].slice;
    place_of_[i] = place(order[i].key);
  }
}

void slice_groups::mark_repeats(verdict* out) const noexcept {
  for (std::size_t i = 0; i < repeats_count_; ++i)
    out[repeats_[i].place] = out[repeats_[i].first] == verdict::unknown ? verdict::unknown : verdict::seen;
}

}  // namespace everseen
