#include "module/batch.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "everseen/core/partition.hpp"
#include "everseen/core/partition_keys.hpp"

#include "module/counters.hpp"
#include "module/effects.hpp"
#include "module/followers.hpp"
#include "module/growth.hpp"
#include "module/slices.hpp"
#include "module/strings.hpp"

namespace everseen::redis_module {

namespace {

event_time time_of(const spec& s, window::slice_index slice) {
  return s.window ? beginning_of(*s.window, slice) : event_time();
}

const slice_state* find(const partition_state& in, window::slice_index slice) {
  const auto found = std::ranges::find(in.slices, slice, &slice_state::index);
  return found == in.slices.end() ? nullptr : &*found;
}

/// The batch, or so many keys of it as may be judged at once, and that followers can be told of all of them.
batch affordable(const batch& b, const geometry& shape, bool followed, const allowance& left) {
  std::size_t keys = std::min(b.digests.size(), left.portion);
  if (followed && is_scattered(shape.layout)) keys = std::min(keys, left.replicated_bits / shape.probes);
  return {b.slice, b.digests.first(keys), b.out.first(keys)};
}

struct round {
  std::size_t keys = 0;  // that have their verdict
  std::optional<segment_needed> needed{};
};

/// Writes down what the segment got. Nothing of it can fail: the commands are there (load.cpp), and a count
/// that could not be raised is damage (record.cpp).
void account(api::context* ctx, api::string* state, const segment_id& written, std::uint64_t fresh) {
  const called counted(api::call(ctx, "HINCRBY", "!scl", state, partition_keys::count_field(written).c_str(),
                                 static_cast<long long>(fresh)));
  api::notify_keyspace_event(ctx, api::notify_module, "everseen.add", state);
}

/// Judges what the segments that are there can judge, and is allowed.
/// @param r  gets the new counts
judged<round> add_to_segments(api::context* ctx, api::string* state, record& r, const batch& all,
                              allowance& left) {
  string_segments place;
  if (auto refused = place.open(ctx, state, r, all.slice, true)) return tl::unexpected(*std::move(refused));
  const bool followed = has_followers(ctx);
  const slice_state* const before = find(r.state, all.slice);
  const batch b = before == nullptr ? all : affordable(all, before->layers.back().shape, followed, left);
  partition judge(r.spec(), r.number, place, r.state);
  const event_time time = time_of(r.spec(), b.slice);
  (void)judge.add({r.number, b.digests, {&time, 1}, b.out});
  round done{b.digests.size(), place.needed()};
  // The keys behind the first that waits were looked up, but not added: they are judged anew.
  if (done.needed)
    done.keys = static_cast<std::size_t>(std::ranges::find(b.out, verdict::unknown) - b.out.begin());
  if (before == nullptr) return done;
  const auto layer = static_cast<std::uint32_t>(before->layers.size() - 1);
  const layer_state& now = find(judge.state(), b.slice)->layers[layer];
  const std::uint64_t fresh = now.keys - before->layers[layer].keys;
  if (fresh == 0) return done;
  const segment_id written = {r.number, b.slice, layer};
  if (followed) {
    const value name(ctx, partition_keys::segment(std::string(text_of(state)), written));
    left.replicated_bits -= replicate(ctx, name.get(), place.at(written), now.shape, b.digests, b.out);
  }
  account(ctx, state, written, fresh);
  r.state = judge.state();
  return done;
}

/// Makes the segment that is needed.    @return why it is not made yet
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
  ends_at = api::milliseconds() + ms_beside_child;
}

progress add(api::context* ctx, api::string* state, record r, const batch& b, allowance& left) {
  progress done;
  while (true) {
    const batch rest = {b.slice, b.digests.subspan(done.keys), b.out.subspan(done.keys)};
    auto got = add_to_segments(ctx, state, r, rest, left);
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
  if (auto refused = place.open(ctx, state, r, b.slice, false)) return refused;
  const partition judge(r.spec(), r.number, place, r.state);
  const event_time time = time_of(r.spec(), b.slice);
  (void)judge.check({r.number, b.digests, {&time, 1}, b.out});
  return {};
}

}  // namespace everseen::redis_module
