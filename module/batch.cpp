#include "module/batch.hpp"

#include <algorithm>
#include <string>

#include "everseen/core/partition.hpp"
#include "everseen/core/partition_keys.hpp"

#include "module/counters.hpp"
#include "module/effects.hpp"
#include "module/followers.hpp"
#include "module/growth.hpp"
#include "module/strings.hpp"

namespace everseen::redis_module {

namespace {

event_time beginning_of(const spec& s, window::slice_index slice) {
  return s.window ? event_time(slice * s.window->slice_width()) : event_time();
}

const slice_state* find(const partition_state& in, window::slice_index slice) {
  const auto found = std::ranges::find(in.slices, slice, &slice_state::index);
  return found == in.slices.end() ? nullptr : &*found;
}

/// Judges what the segments that are there can judge.
/// @return what is needed to go on, if not all could be
judged<std::optional<segment_needed>> add_to_segments(api::context* ctx, api::string* state, const record& r,
                                                      const batch& b) {
  string_segments place;
  if (auto refused = place.open(ctx, text_of(state), r, b.slice, true))
    return tl::unexpected(*std::move(refused));
  partition judge(r.spec(), r.number, place, r.state);
  const event_time time = beginning_of(r.spec(), b.slice);
  (void)judge.add({r.number, b.digests, {&time, 1}, b.out});
  const slice_state* const before = find(r.state, b.slice);
  if (before == nullptr) return place.needed();
  const auto layer = static_cast<std::uint32_t>(before->layers.size() - 1);
  const layer_state& now = find(judge.state(), b.slice)->layers[layer];
  const std::uint64_t fresh = now.keys - before->layers[layer].keys;
  if (fresh == 0) return place.needed();
  const segment_id written = {r.number, b.slice, layer};
  if (has_followers(ctx)) {
    const value name(ctx, partition_keys::segment(std::string(text_of(state)), written));
    replicate_lines(ctx, name.get(), place.at(written), now.shape, b.digests, b.out);
  }
  const called counted(api::call(ctx, "HINCRBY", "!scl", state, partition_keys::count_field(written).c_str(),
                                 static_cast<long long>(fresh)));
  api::notify_keyspace_event(ctx, api::notify_module, "everseen.add", state);
  return place.needed();
}

}  // namespace

judged<std::size_t> add(api::context* ctx, api::string* state, record r, const batch& b) {
  std::uint64_t budget = partition_keys::growth_step_bytes;
  for (std::size_t done = 0;;) {
    const batch rest = {b.slice, b.digests.subspan(done), b.out.subspan(done)};
    const auto needed = add_to_segments(ctx, state, r, rest);
    if (!needed) return tl::unexpected(needed.error());
    if (!*needed) return b.digests.size();
    // The keys behind the first that waits were looked up, but not added: they are judged anew.
    done += static_cast<std::size_t>(std::ranges::find(rest.out, verdict::unknown) - rest.out.begin());
    const auto grown = grow(ctx, state, r, **needed, budget);
    if (!grown) return done > 0 ? judged<std::size_t>(done) : tl::unexpected(grown.error());
    if (!*grown) return done;
    ++counters::all().growths;
    auto next = read_record(ctx, state);
    if (!next) return tl::unexpected(next.error());
    r = *std::move(next);
  }
}

judged<std::size_t> check(api::context* ctx, api::string* state, const record& r, const batch& b) {
  string_segments place;
  if (auto refused = place.open(ctx, text_of(state), r, b.slice, false))
    return tl::unexpected(*std::move(refused));
  const partition judge(r.spec(), r.number, place, r.state);
  const event_time time = beginning_of(r.spec(), b.slice);
  (void)judge.check({r.number, b.digests, {&time, 1}, b.out});
  return b.digests.size();
}

}  // namespace everseen::redis_module
