#include "module/partition/batch.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/format/partition_keys.hpp"
#include "everseen/core/partition/partition.hpp"

#include "module/partition/effects.hpp"
#include "module/partition/growth.hpp"
#include "module/partition/strings.hpp"
#include "module/server/counters.hpp"
#include "module/server/followers.hpp"

namespace everseen::redis_module {

namespace {

const slice_state* find(const partition_state& in, window::slice_index slice) {
  const auto found = std::ranges::find(in.slices, slice, &slice_state::index);
  return found == in.slices.end() ? nullptr : &*found;
}

/// The times to pass to the core: one for all, or one per key. Valid until the next call.
std::span<const event_time> times_of(const spec& s, const batch& b) {
  static std::vector<event_time> times;
  if (!s.window) return {};
  times.assign(1, window::start_of(*s.window, b.slice));
  if (b.slices.empty()) return times;
  times.resize(b.slices.size());
  std::ranges::transform(b.slices, times.begin(),
                         [&](auto slice) { return window::start_of(*s.window, slice); });
  return times;
}

/// The leading keys of a batch that belong to one slice.
batch alike(const batch& b) {
  std::size_t keys = 1;
  while (keys < b.digests.size() && b.slice_of(keys) == b.slice_of(0)) ++keys;
  const batch first = b.part(0, b.slices.empty() ? b.digests.size() : keys);
  return {b.slice_of(0), {}, first.digests, first.out};
}

/// The leading keys of a batch that need no new segment, whichever of them are fresh.
/// @return empty if this is uncertain for the first key
batch roomy(const record& r, const batch& b) {
  const bool limited = r.spec().growth != growth_kind::overfill;
  const auto oldest = window::oldest_live(*r.spec().window, r.state.slices.back().index);
  struct space {
    const slice_state* of;
    std::uint64_t left;
  };
  std::vector<space> spaces;
  std::size_t last = 0, keys = 0;
  for (; keys < b.digests.size(); ++keys) {
    const window::slice_index slice = b.slices[keys];
    if (slice < oldest) continue;
    if (spaces.empty() || spaces[last].of->index != slice) {
      const auto known = std::ranges::find(spaces, slice, [](const space& s) { return s.of->index; });
      last = static_cast<std::size_t>(known - spaces.begin());
      if (known == spaces.end()) {
        const slice_state* const there = find(r.state, slice);
        if (there == nullptr) break;
        const layer_state& layer = there->layers.back();
        spaces.push_back({there, layer.capacity - std::min(layer.capacity, layer.keys)});
      }
    }
    if (limited && spaces[last].left-- == 0) break;
  }
  return b.part(0, keys);
}

/// The leading keys of a batch that can be judged in one pass.
batch in_one_go(const record& r, const batch& b) {
  if (b.slices.empty() || !r.spec().window) return {b.slice, {}, b.digests, b.out};
  const batch some = r.state.slices.empty() ? b.part(0, 0) : roomy(r, b);
  return some.digests.empty() ? alike(b) : some;
}

/// The leading keys of a batch that fit one portion and whose replication is within the limit.
batch affordable(const record& r, const batch& b, bool followed, const allowance& left) {
  std::size_t keys = std::min(b.digests.size(), left.portion);
  for (const slice_state& s : r.state.slices)
    if (const geometry& shape = s.layers.back().shape; followed && is_scattered(shape.layout))
      keys = std::min(keys, left.replicated_bits / shape.probes);
  return b.part(0, keys);
}

/// The fresh keys of one slice, if a batch has several slices. Valid until the next call.
batch only(const batch& b, window::slice_index slice) {
  if (b.slices.empty()) return b;
  static std::vector<digest> digests;
  static std::vector<verdict> verdicts;
  digests.clear();
  verdicts.clear();
  for (std::size_t i = 0; i < b.digests.size(); ++i) {
    if (b.slices[i] != slice || b.out[i] != verdict::fresh) continue;
    digests.push_back(b.digests[i]);
    verdicts.push_back(b.out[i]);
  }
  return {slice, {}, digests, verdicts};
}

struct round {
  std::size_t keys = 0;  // that have their verdict
  std::optional<segment_needed> needed{};
};

/// Stores the key count of a segment. Cannot fail, since the commands exist (load.cpp). Writes a sum, not an
/// increment: after a crash in the middle of a call, the server may have applied this, and the client retries
/// the whole call.
void account(api::context* ctx, api::string* state, const segment_id& written, std::uint64_t keys) {
  const called counted(api::call(ctx, "HSET", "!scl", state, partition_keys::count_field(written).c_str(),
                                 static_cast<long long>(keys)));
  api::notify_keyspace_event(ctx, api::notify_module, "everseen.add", state);
}

/// Replicates the changes to segments that existed before, and stores their counts.
void tell(api::context* ctx, api::string* state, const record& before, const partition_state& now,
          const string_segments& place, const batch& b, allowance* followed) {
  for (const slice_state& s : before.state.slices) {
    const auto layer = static_cast<std::uint32_t>(s.layers.size() - 1);
    const layer_state& grown = find(now, s.index)->layers[layer];
    const std::uint64_t fresh = grown.keys - s.layers[layer].keys;
    if (fresh == 0) continue;
    const segment_id written = {before.number, s.index, layer};
    if (followed != nullptr) {
      const batch its = only(b, s.index);
      const value name(ctx, partition_keys::segment(std::string(text_of(state)), written));
      followed->replicated_bits -=
          replicate(ctx, name.get(), place.at(written), grown.shape, its.digests, its.out);
    }
    account(ctx, state, written, grown.keys);
  }
}

/// Judges what the existing segments and the allowance permit.
/// @param r  receives the new counts    @param told  called before anything is replicated
judged<round> add_to_segments(api::context* ctx, api::string* state, record& r, const batch& all,
                              allowance& left, const judged_so_far& told) {
  const bool followed = has_followers(ctx);
  batch b = in_one_go(r, all);
  const bool is_new = b.slices.empty() && find(r.state, b.slice) == nullptr;
  if (!is_new) b = affordable(r, b, followed, left);
  string_segments place;
  if (auto refused = place.open(ctx, state, r, b, true)) return tl::unexpected(*std::move(refused));
  partition judge(r.spec(), r.number, place, r.state);
  (void)judge.add({r.number, b.digests, times_of(r.spec(), b), b.out});
  round done{b.digests.size(), place.needed()};
  // Keys after the first one without a segment were looked up but not added; they are judged again.
  if (done.needed)
    done.keys = static_cast<std::size_t>(std::ranges::find(b.out, verdict::unknown) - b.out.begin());
  told(done.keys);
  if (is_new) return done;
  tell(ctx, state, r, judge.state(), place, b, followed ? &left : nullptr);
  r.state = judge.state();
  return done;
}

/// Creates the needed segment.    @return why it does not exist yet
std::optional<refusal> make(api::context* ctx, api::string* state, record& r, const segment_needed& needed,
                            allowance& left) {
  const auto grown = grow(ctx, state, r, needed, left.zeroed_bytes);
  if (!grown) return grown.error();
  if (!*grown) return refusal{.why = refusal::kind::growing};
  ++counters::all().growths;
  auto next = read_record(ctx, state);
  if (!next) return std::move(next).error();
  r = *std::move(next);
  return {};
}

}  // namespace

allowance::allowance(api::context* ctx) {
  constexpr std::size_t portion_beside_child = 128;
  constexpr long long ms_beside_child = 3;
  if (!has_child(ctx)) return;
  portion = portion_beside_child;
  deadline = api::milliseconds() + ms_beside_child;
}

progress add(api::context* ctx, api::string* state, record r, const batch& b, allowance& left,
             const judged_so_far& judged) {
  progress done;
  const auto told = [&](std::size_t keys) {
    if (judged) judged(done.keys + keys);
  };
  while (true) {
    const batch rest = b.part(done.keys, b.digests.size() - done.keys);
    auto got = add_to_segments(ctx, state, r, rest, left, told);
    if (!got) {
      done.stopped_by = std::move(got).error();
      return done;
    }
    done.keys += got->keys;
    if (got->needed) {
      done.stopped_by = make(ctx, state, r, *got->needed, left);
      if (done.stopped_by) return done;
    } else if (done.keys == b.digests.size()) {
      return done;
    } else if (got->keys == 0 || left.is_over()) {
      std::ranges::fill(b.out.subspan(done.keys), verdict::unknown);
      done.stopped_by = refusal{.why = refusal::kind::limit};
      return done;
    }
  }
}

std::optional<refusal> check(api::context* ctx, api::string* state, const record& r, const batch& b) {
  string_segments place;
  if (auto refused = place.open(ctx, state, r, b, false)) return refused;
  const partition judge(r.spec(), r.number, place, r.state);
  (void)judge.check({r.number, b.digests, times_of(r.spec(), b), b.out});
  return {};
}

}  // namespace everseen::redis_module
