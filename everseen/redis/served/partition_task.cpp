#include "everseen/redis/served/partition_task.hpp"

#include <algorithm>
#include <string>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/tally_of.hpp"
#include "everseen/core/format/partition_keys.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/script/sequence.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

/// How often growing a segment is tried again: it may expire while it is being created, or its server may
/// fail.
constexpr std::uint64_t growth_attempts = 10;
constexpr int max_stale = 1000;  // other clients always change it first: then something is broken

/// @throws full_error  a slice cannot have this layer
growth::layer_plan plan_on_server(const spec& s, unsigned layer) {
  const growth::layer_plan plan = growth::plan_layer(s, layer);
  if (const auto excess = partition_keys::excess_of(plan.shape); !excess.empty())
    throw growth::no_room(s, "would need a layer that is too long: " + std::string(excess));
  return plan;
}

/// Why a server that creates layers itself has no room for a key: the first layer that cannot be created.
std::string reason_of_no_room(const spec& s) {
  if (s.growth == growth_kind::refuse) return growth::no_room(s).what();
  try {
    for (unsigned layer = 1;; ++layer) (void)plan_on_server(s, layer);
  } catch (const full_error& why) {
    return why.what();
  }
}

}  // namespace

partition_task::partition_task(command_set by, purpose what, const partition_batch& batch,
                               std::shared_ptr<const remote_partition> known,
                               std::unique_ptr<lane_claim> claim)
    : commands_(std::move(by)),
      purpose_(what),
      batch_(batch),
      known_(std::move(known)),
      claim_(std::move(claim)) {
  std::fill(batch_.out.begin(), batch_.out.end(), verdict::unknown);
  if (known_) plan();
}

partition_task::partition_task(command_set by, std::uint32_t partition, window::slice_index newest)
    : commands_(std::move(by)), purpose_(purpose::add), batch_({partition, {}, {}, {}}), move_to_(newest) {}

tally partition_task::done_so_far() const noexcept {
  return tally_of(batch_.out);
}

window::slice_index partition_task::slice_of(std::size_t key) const noexcept {
  if (!filter().spec.window) return window::timeless;
  return window::slice_at(*filter().spec.window, batch_.times[batch_.times.size() == 1 ? 0 : key]);
}

/// All segments that a key of this slice is compared with.
std::vector<segment_id> partition_task::live_segments(window::slice_index slice) const {
  std::vector<segment_id> live;
  const bool windowed = filter().spec.window.has_value();
  const auto now = known_->slices.empty() ? slice : std::max(slice, known_->newest());
  for (const slice_state& s : known_->slices) {
    if (windowed && s.index < window::oldest_live(*filter().spec.window, now)) continue;
    for (std::uint32_t layer = 0; layer < s.layers.size(); ++layer)
      live.push_back({batch_.partition, s.index, layer});
  }
  return live;
}

/// The segments that the keys of a call are compared with; when adding, those to write come last.
void partition_task::name_targets(judge_call& q) const {
  std::vector<segment_id> live = live_segments(q.slice);
  const auto is_looked_up = [&](const segment_id& id) {
    const bool is_newest_layer = id.layer + 1 == known_->find(id.slice)->layers.size();
    if (!q.adding || !is_newest_layer) return true;
    return q.slices.empty() ? id.slice != q.slice : std::ranges::find(q.slices, id.slice) == q.slices.end();
  };
  const auto written = std::stable_partition(live.begin(), live.end(), is_looked_up);
  q.written = static_cast<std::size_t>(live.end() - written);
  for (const segment_id& id : live) q.targets.push_back({id, known_->find(id.slice)->layers[id.layer]});
}

bool partition_task::is_sealed() {
  if (!known_->successor || purpose_ == purpose::check) return false;
  detour_ = reason::sealed;
  if (full_) failure_ = std::move(full_);
  return true;
}

bool partition_task::has_moved() {
  if (!move_to_) return true;
  if (known_->slices.empty() || known_->newest() < *move_to_) return false;
  move_to_.reset();
  return true;
}

/// Decides what the next call is about: keys that may share a call, or the segment that the first key lacks.
void partition_task::plan() {
  if (is_sealed()) return;
  if (!has_moved()) return begin_growth(*move_to_);
  if (done()) return;
  const std::size_t limit = std::min(batch_.digests.size(), from_ + commands_.keys_a_call(claim_ != nullptr));
  const bool adds = purpose_ == purpose::add, by_scripts = !commands_.makes_segments();
  const mixing allowed = !adds ? mixing::lookup : by_scripts ? mixing::listed : mixing::any;
  key_run next = next_key_run(filter().spec, *known_, batch_.times, from_, limit, allowed);
  if (adds && by_scripts && next.slices.empty() && known_->find(next.slice) == nullptr)
    return begin_growth(next.slice);
  count_ = next.keys;
  step_ = step::judge;
  question_ = ask_about_keys(std::move(next));
}

void partition_task::begin_growth(window::slice_index slice) {
  remote_partition next = *known_;
  auto at = std::lower_bound(next.slices.begin(), next.slices.end(), slice,
                             [](const slice_state& s, window::slice_index i) { return s.index < i; });
  if (at == next.slices.end() || at->index != slice) at = next.slices.insert(at, slice_state{slice, {}});
  const segment_id made{batch_.partition, slice, static_cast<std::uint32_t>(at->layers.size())};
  try {
    const growth::layer_plan plan = plan_on_server(filter().spec, made.layer);
    at->layers.push_back({plan.shape, plan.capacity, 0});
  } catch (const error& e) {
    return fail(batch_failure::cause::full, e.what());
  }
  const std::uint64_t bytes = at->layers.back().shape.bytes;
  std::vector<segment_id> expired;
  if (filter().spec.window) {
    const auto oldest = window::oldest_live(*filter().spec.window, next.slices.back().index);
    for (const slice_state& s : next.slices)
      for (std::uint32_t i = 0; s.index < oldest && i < s.layers.size(); ++i)
        expired.push_back({batch_.partition, s.index, i});
    std::erase_if(next.slices, [&](const slice_state& s) { return s.index < oldest; });
  }
  ++next.epoch;
  growth_ = growth_call{known_->epoch, made, bytes, std::move(next), std::move(expired)};
  growth_calls_left_ = growth_attempts * (1 + bytes / partition_keys::growth_step_bytes);
  step_ = step::grow;
}

request partition_task::next() {
  EVERSEEN_ASSERT(!done());
  switch (step_) {
    case step::load: {
      const route state = place();
      return {state, encode({"HGETALL", state.key}), 1, true};
    }
    case step::judge:
      return commands_.judge(question_);
    case step::grow:
      break;
  }
  return commands_.grow(*growth_);
}

judge_call partition_task::ask_about_keys(key_run about) const {
  judge_call q;
  q.partition = batch_.partition;
  q.epoch = known_->epoch;
  q.adding = purpose_ != purpose::check;
  q.claim = claim_.get();
  if (q.adding) q.sequence = next_sequence();
  q.slice = about.slice;
  q.slices = std::move(about.slices);
  q.digests = batch_.digests.subspan(from_, count_);
  q.first = from_;
  if (!commands_.makes_segments()) name_targets(q);
  return q;
}

void partition_task::take(const answer& a) {
  switch (step_) {
    case step::load:
      return take_state(a);
    case step::judge: {
      const call_result o = commands_.judged(question_, a);
      if (!take_exception(o)) take_verdicts(o);
      return;
    }
    case step::grow: {
      const call_result o = commands_.grown(*growth_, a);
      if (!take_exception(o)) take_growth(o);
      return;
    }
  }
}

void partition_task::take_state(const answer& a) {
  if (!a) return fail(batch_failure::cause::backend, a.error().message);
  const reply& state = a->front();
  if (state.is_error()) return (void)take_exception(call_result::refused(place().key, state));
  if (state.size() == 0) return (void)take_exception(call_result::gone(place().key));
  try {
    known_ = std::make_shared<const remote_partition>(decode_state(filter(), batch_.partition, state));
  } catch (const format_error& e) {
    return fail(batch_failure::cause::format, e.what());
  }
  plan();
}

/// Handles every answer except success.    @return whether it was one of these
bool partition_task::take_exception(const call_result& o) {
  using kind = call_result::kind;
  if (o.failure) failure_ = o.failure;
  if (o.what == kind::claimed) detour_ = reason::claimed;
  if (o.what == kind::ended) detour_ = reason::ended;
  if (o.what == kind::stale) {
    step_ = step::load;
    if (++stale_ == max_stale)
      fail(batch_failure::cause::backend, "the partition changes faster than it can be read");
  }
  return o.what != kind::done;
}

void partition_task::take_verdicts(const call_result& o) {
  const std::string_view verdicts = o.text;
  if (verdicts.size() > count_)
    return fail(batch_failure::cause::backend, "the server sent more verdicts than requested");
  stale_ = 0;
  const auto out = batch_.out.subspan(from_, verdicts.size());
  std::ranges::transform(verdicts, out.begin(), [](char c) { return static_cast<verdict>(c - '0'); });
  if (purpose_ == purpose::check) mark_late(out);
  const bool no_room = tally_of(out).unknown > 0;
  from_ += verdicts.size();
  if (no_room && !full_) {
    full_ = batch_failure{batch_failure::cause::full, reason_of_no_room(filter().spec), {}};
  }
  // Events after one that found no room must not be claimed before it.
  if (from_ == batch_.digests.size() || (full_ && claim_)) {
    failure_ = std::move(full_);
    return;
  }
  if (o.wants_growth) return begin_growth(slice_of(from_));
  plan();
}

/// A look-up compares late keys with the segments, too. Whether a key is late follows from known_, the epoch
/// of the answer.
void partition_task::mark_late(std::span<verdict> out) const {
  if (!filter().spec.window || known_->slices.empty()) return;
  const auto oldest = window::oldest_live(*filter().spec.window, known_->newest());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (slice_of(from_ + i) < oldest) out[i] = verdict::late;
}

void partition_task::take_growth(const call_result& o) {
  if (o.text == "K") {
    stale_ = 0;
    known_ = std::make_shared<const remote_partition>(std::move(growth_->next));
    plan();
  } else if (o.text == "D1" || --growth_calls_left_ == 0) {
    (void)take_exception(
        call_result::damaged(filter().keys.segment(growth_->segment), "does not have its original length"));
  }
}

void partition_task::fail(batch_failure::cause why, std::string message) {
  failure_ = batch_failure{why, std::move(message), {}};
}

}  // namespace everseen::redis
