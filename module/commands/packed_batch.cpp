#include "module/commands/packed_batch.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "everseen/core/spec/window.hpp"

#include "module/commands/command.hpp"
#include "module/server/settings.hpp"

namespace everseen::redis_module {

namespace {

/// Kept between calls, of which only one runs at a time (command_lock): a call allocates nothing but its
/// reply.
struct {
  std::vector<digest> digests;
  std::vector<verdict> verdicts;
  std::string text;
} kept;

constexpr window::slice_index greatest_offset = 255;

}  // namespace

slice_batch read_packed(const api::string* slice, const api::string* digests, const api::string* offsets) {
  const std::string_view packed = text_of(digests);
  const std::size_t keys = packed.size() / sizeof(digest);
  if (packed.size() % sizeof(digest) != 0) throw bad_word{"ERR digests are 16 bytes each"};
  if (keys > most_digests) throw bad_word{"ERR more than 65536 digests in a call"};
  kept.digests.resize(keys);
  kept.verdicts.resize(keys);
  // Arguments may have any address, and kernels read digests as aligned 64-bit words.
  if (keys > 0) std::memcpy(kept.digests.data(), packed.data(), packed.size());
  const std::string_view each = offsets == nullptr ? std::string_view() : text_of(offsets);
  if (!each.empty() && each.size() != keys) throw bad_word{"ERR offsets are a byte for each digest, or none"};
  const auto first = number_of<window::slice_index>(slice, "ERR the slice is not a number");
  if (first > std::numeric_limits<window::slice_index>::max() - greatest_offset)
    throw bad_word{"ERR no time falls into the slice"};
  return {kept.digests, kept.verdicts, first, each};
}

void must_fit_window(api::context* ctx, const spec& s, const slice_batch& keys) {
  const auto offset = keys.offsets.empty() ? 0 : *std::ranges::max_element(keys.offsets, {}, [](char each) {
    return static_cast<unsigned char>(each);
  });
  const window::slice_index last = keys.slice + static_cast<unsigned char>(offset);
  if (!s.window) {
    if (keys.slice != window::timeless || last != window::timeless)
      throw bad_word{"ERR the filter has no window"};
    return;
  }
  if (!window::has_time(*s.window, keys.slice) || !window::has_time(*s.window, last))
    throw bad_word{"ERR no time falls into the slice"};
  if (repeats_a_decision(ctx)) return;
  const event_time clock{std::chrono::milliseconds(api::milliseconds())};
  if (window::start_of(*s.window, last) > window::latest_accepted(*s.window, clock))
    throw bad_word{
        "ERR the time is too far ahead of the clock of this server: a filter takes times up to one slice of "
        "its window from now, or a minute, since a later one would make keys of today late"};
}

std::string_view packed(std::span<const verdict> verdicts) {
  std::string& text = kept.text;
  text.resize(verdicts.size());
  // A separate iterator: otherwise each store of a char could change the string's pointer, which prevents
  // vectorisation.
  std::ranges::transform(verdicts, text.begin(),
                         [](verdict v) { return static_cast<char>('0' + static_cast<char>(v)); });
  return text;
}

}  // namespace everseen::redis_module
