#include "module/commands/packed_call.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "module/commands/command.hpp"
#include "module/server/counters.hpp"

namespace everseen::redis_module {

namespace {

/// Memory shared by all calls; only one runs at a time (command_lock).
struct scratch {
  std::vector<digest> digests;
  std::vector<verdict> verdicts;
  std::vector<window::slice_index> slices;
  std::string text;
};

scratch& memory() {
  static scratch all;
  return all;
}

/// @throws bad_word
std::span<const window::slice_index> read_slices(window::slice_index first, std::string_view offsets,
                                                 std::size_t keys) {
  if (offsets.empty()) return {};
  if (offsets.size() != keys) throw bad_word{"ERR offsets are a byte for each digest, or none"};
  if (first > std::numeric_limits<window::slice_index>::max() - 255)
    throw bad_word{"ERR no time falls into the slice"};
  auto& slices = memory().slices;
  slices.resize(keys);
  std::ranges::transform(offsets, slices.begin(),
                         [first](char offset) { return first + static_cast<unsigned char>(offset); });
  return slices;
}

void check_slice(const everseen::spec& s, window::slice_index slice) {
  if (!s.window && slice != window::timeless) throw bad_word{"ERR the filter has no window"};
  if (!s.window) return;
  if (!window::has_time(*s.window, slice)) throw bad_word{"ERR no time falls into the slice"};
  const event_time clock(std::chrono::milliseconds(api::milliseconds()));
  if (window::start_of(*s.window, slice) > window::latest_accepted(*s.window, clock))
    throw bad_word{
        "ERR the time is too far ahead of the clock of this server: a filter takes times up to one "
        "window from now, since a later one would make the keys of today late"};
}

}  // namespace

question read(api::string* state, api::string* epoch, api::string* slice, api::string* digests,
              api::string* offsets) {
  const std::string_view packed = text_of(digests);
  const std::size_t keys = packed.size() / sizeof(digest);
  if (packed.size() % sizeof(digest) != 0) throw bad_word{"ERR digests are 16 bytes each"};
  if (keys > most_keys) throw bad_word{"ERR more than 65536 digests in a call"};
  scratch& m = memory();
  m.digests.resize(keys);
  m.verdicts.resize(keys);
  // Arguments may have any address, and kernels read digests as aligned 64-bit words.
  if (keys > 0) std::memcpy(m.digests.data(), packed.data(), packed.size());
  const auto first = number_of<window::slice_index>(slice, "ERR the slice is not a number");
  return {state,     number_of<std::uint64_t>(epoch, "ERR the epoch is not a number"),
          first,     read_slices(first, offsets == nullptr ? std::string_view() : text_of(offsets), keys),
          m.digests, m.verdicts};
}

judged<record> look_at(api::context* ctx, const question& q) {
  auto r = read_record(ctx, q.state);
  if (!r) return r;
  if (r->epoch != q.epoch) return refuse(refusal::kind::stale);
  check_slice(r->spec(), q.slice);
  if (!q.slices.empty()) check_slice(r->spec(), std::ranges::max(q.slices));
  return r;
}

std::string_view write(std::span<const verdict> verdicts) {
  std::string& text = memory().text;
  text.resize(verdicts.size());
  // A separate iterator: otherwise each store of a char could change the string's pointer, which prevents
  // vectorisation.
  std::ranges::transform(verdicts, text.begin(),
                         [](verdict v) { return static_cast<char>('0' + static_cast<char>(v)); });
  return text;
}

int reply(api::context* ctx, const refusal& r) {
  using enum refusal::kind;
  ++counters::all().refusals;
  const auto say = [ctx](std::string letter, const std::string& rest = {}) {
    return reply_with(ctx, letter.append(rest));
  };
  switch (r.why) {
    case gone:
      return say("M");
    case damaged:
      return say("C", r.text);
    case stale:
      return say("S");
    case segment:
      return say("D", std::to_string(r.id.slice).append(".").append(std::to_string(r.id.layer)));
    case old:
      return say("O");
    case ended:
      return say("J");
    default:
      return api::reply_with_error(ctx, message_of(r).c_str());
  }
}

}  // namespace everseen::redis_module
