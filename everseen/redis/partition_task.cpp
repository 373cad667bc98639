#include "everseen/redis/partition_task.hpp"

#include <algorithm>
#include <atomic>

#include "everseen/core/assert.hpp"
#include "everseen/core/growth.hpp"
#include "everseen/redis/positions.hpp"

namespace everseen::redis {

namespace {

constexpr std::string_view unpublished_life_ms = "600000";
constexpr int max_stale = 1000;  // somebody else wins every race: then something is broken

/// Different for every batch that this process sends; of fixed length, so that none is another's beginning.
std::string next_sequence() {
  static std::atomic<std::uint64_t> count{0};
  std::string text = std::to_string(count.fetch_add(1, std::memory_order_relaxed));
  return std::string(20 - text.size(), '0') + text;
}

}  // namespace

partition_task::partition_task(const remote_filter& f, purpose what, const partition_batch& batch,
                               std::shared_ptr<const remote_partition> known, std::string_view client)
    : filter_(f), purpose_(what), batch_(batch), known_(std::move(known)), client_(client) {
  std::fill(batch_.out.begin(), batch_.out.end(), verdict::unknown);
  if (known_) plan();
}

tally partition_task::done_so_far() const noexcept {
  tally sum;
  for (const verdict v : batch_.out) {
    sum.fresh += v == verdict::fresh;
    sum.seen += v == verdict::seen;
    sum.late += v == verdict::late;
    sum.unknown += v == verdict::unknown;
  }
  return sum;
}

window::slice_index partition_task::slice_of(std::size_t key) const noexcept {
  if (!filter_.spec.window) return window::timeless;
  return window::slice_at(*filter_.spec.window, batch_.times[batch_.times.size() == 1 ? 0 : key]);
}

const layer_state& partition_task::layer_of(const segment_id& id) const {
  return known_->find(id.slice)->layers[id.layer];
}

/// All segments that a key of this slice is compared with; when adding, the one to write comes last.
std::vector<segment_id> partition_task::live_segments(window::slice_index slice) const {
  std::vector<segment_id> live;
  const bool windowed = filter_.spec.window.has_value();
  const auto now = known_->slices.empty() ? slice : std::max(slice, known_->newest());
  for (const slice_state& s : known_->slices) {
    if (windowed && s.index < window::oldest_live(*filter_.spec.window, now)) continue;
    for (std::uint32_t layer = 0; layer < s.layers.size(); ++layer)
      live.push_back({batch_.partition, s.index, layer});
  }
  if (purpose_ == purpose::check) return live;
  const slice_state& target = *known_->find(slice);
  const segment_id written = {batch_.partition, slice, static_cast<std::uint32_t>(target.layers.size() - 1)};
  std::erase(live, written);
  live.push_back(written);
  return live;
}

/// Decides what the next call is about: a run of keys that share a slice, or the segment they lack.
void partition_task::plan() {
  while (!done()) {
    const window::slice_index slice = slice_of(from_);
    const std::size_t limit = std::min(batch_.digests.size(), from_ + keys_a_call);
    std::size_t to = from_ + 1;
    while (to < limit && slice_of(to) == slice) ++to;
    const bool late = filter_.spec.window && !known_->slices.empty() &&
                      slice < window::oldest_live(*filter_.spec.window, known_->newest());
    count_ = to - from_;
    // A slice only ages, so late by what is known is late; but a reset makes it young again, and nothing is
    // sent that would tell. The reverse the server's epoch decides.
    if (late && !confirmed_) {
      step_ = step::load;
      return;
    }
    if (late) {
      std::fill_n(batch_.out.begin() + static_cast<std::ptrdiff_t>(from_), count_, verdict::late);
      from_ = to;
      continue;
    }
    if (purpose_ == purpose::add && known_->find(slice) == nullptr) return begin_growth(slice);
    if (purpose_ == purpose::check && live_segments(slice).empty()) {
      step_ = step::load;
      if (!just_loaded_) return;  // what was remembered may be old, and nothing is sent that would tell
      std::fill_n(batch_.out.begin() + static_cast<std::ptrdiff_t>(from_), count_, verdict::fresh);
      from_ = to;
      continue;
    }
    step_ = step::judge;
    return;
  }
}

void partition_task::begin_growth(window::slice_index slice) {
  remote_partition next = *known_;
  auto at = std::lower_bound(next.slices.begin(), next.slices.end(), slice,
                             [](const slice_state& s, window::slice_index i) { return s.index < i; });
  if (at == next.slices.end() || at->index != slice) at = next.slices.insert(at, slice_state{slice, {}});
  const auto layer = static_cast<std::uint32_t>(at->layers.size());
  try {
    const growth::layer_plan plan = growth::plan_layer(filter_.spec, layer);
    if (plan.shape.bytes > max_string_bytes)
      throw full_error(
          "the filter cannot grow further: a Redis string ends at 512 MiB; create one with more partitions");
    at->layers.push_back({plan.shape, plan.capacity, 0});
  } catch (const error& e) {
    return fail(batch_failure::cause::full, e.what());
  }
  new_segment_ = {batch_.partition, slice, layer};
  expired_.clear();
  if (filter_.spec.window) {
    const auto oldest = window::oldest_live(*filter_.spec.window, next.slices.back().index);
    for (const slice_state& s : next.slices)
      for (std::uint32_t i = 0; s.index < oldest && i < s.layers.size(); ++i)
        expired_.push_back({batch_.partition, s.index, i});
    std::erase_if(next.slices, [&](const slice_state& s) { return s.index < oldest; });
  }
  ++next.epoch;
  next_state_ = std::move(next);
  length_ = 0;
  step_ = step::lengthen;
}

request partition_task::next() {
  EVERSEEN_ASSERT(!done());
  const std::string state = filter_.keys.state(filter_.generation, batch_.partition);
  switch (step_) {
    case step::load:
      return {{state, batch_.partition}, encode({"HGETALL", state}), 1, true};
    case step::judge:
      return ask_to_judge();
    case step::publish:
      return ask_to_publish();
    case step::lengthen:
      break;
  }
  const std::uint64_t bytes = next_state_->find(new_segment_.slice)->layers[new_segment_.layer].shape.bytes;
  return call(scripts::lengthen(), {state, filter_.keys.segment(filter_.generation, new_segment_)},
              {std::to_string(known_->epoch), std::to_string(std::min(bytes, length_ + step_bytes)),
               std::string(unpublished_life_ms)});
}

request partition_task::call(const script& s, std::vector<std::string> keys,
                             std::vector<std::string> arguments) {
  const std::string count = std::to_string(keys.size());
  std::vector<std::string_view> words = {with_text_ ? "EVAL" : "EVALSHA", with_text_ ? s.text : s.sha1,
                                         count};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  return {{keys.front(), batch_.partition}, encode(words), 1, true};
}

request partition_task::ask_to_judge() {
  const auto digests = batch_.digests.subspan(from_, count_);
  asked_ = live_segments(slice_of(from_));
  std::vector<std::string> keys = {filter_.keys.state(filter_.generation, batch_.partition)};
  std::vector<std::string> arguments = {std::to_string(known_->epoch)};
  if (purpose_ == purpose::add) {
    // The same until it is answered: a server that has lost its scripts may have judged the batch before.
    if (sequence_.empty()) sequence_ = next_sequence();
    const layer_state& written = layer_of(asked_.back());
    const bool limited = filter_.spec.growth != growth_kind::overfill;
    keys.push_back(filter_.keys.token(filter_.generation, batch_.partition, client_));
    arguments.insert(arguments.end(),
                     {sequence_, std::to_string(filter_.keeps_answers.count()), count_field(asked_.back()),
                      limited ? std::to_string(written.capacity) : "",
                      filter_.spec.growth == growth_kind::refuse ? "1" : "0"});
  }
  for (const segment_id& id : asked_) {
    keys.push_back(filter_.keys.segment(filter_.generation, id));
    arguments.push_back(std::to_string(layer_of(id).shape.bytes));
  }
  for (const segment_id& id : asked_) arguments.push_back(pack_positions(layer_of(id).shape, digests));
  const unsigned probes = filter_.spec.probes;
  request asked = call(purpose_ == purpose::add ? scripts::add(probes) : scripts::check(probes),
                       std::move(keys), std::move(arguments));
  if (purpose_ == purpose::add) asked.repeatable = repetition(filter_.keeps_answers);
  return asked;
}

request partition_task::ask_to_publish() {
  std::vector<std::string> keys = {filter_.keys.state(filter_.generation, batch_.partition),
                                   filter_.keys.segment(filter_.generation, new_segment_)};
  std::vector<std::string> arguments = {std::to_string(known_->epoch), std::to_string(next_state_->epoch),
                                        encode_state(filter_, *next_state_), std::to_string(length_),
                                        count_field(new_segment_)};
  for (const segment_id& id : expired_) {
    keys.push_back(filter_.keys.segment(filter_.generation, id));
    arguments.push_back(count_field(id));
  }
  return call(scripts::publish(), std::move(keys), std::move(arguments));
}

void partition_task::take(const answer& a) {
  if (!a) return fail(batch_failure::cause::backend, a.error().message);
  const reply& r = a->back();
  if (r.is_error("NOSCRIPT")) {
    with_text_ = true;
    return;
  }
  with_text_ = false;
  if (r.is_error()) return fail(r);
  switch (step_) {
    case step::load:
      return take_state(r);
    case step::judge:
      return take_verdicts(r.text());
    case step::lengthen:
      return take_length(r);
    case step::publish:
      return take_published(r.text());
  }
}

void partition_task::take_state(const reply& r) {
  try {
    known_ = std::make_shared<const remote_partition>(decode_state(filter_, batch_.partition, r));
  } catch (const format_error& e) {
    gone_ = r.size() == 0;
    return fail(batch_failure::cause::format, e.what());
  }
  confirmed_ = true;
  just_loaded_ = true;
  plan();
  just_loaded_ = false;
}

/// The answers that are not verdicts. Returns whether it was one.
bool partition_task::take_refusal(std::string_view word) {
  if (word == "S") {
    if (++stale_ == max_stale)
      fail(batch_failure::cause::backend, "the partition changes faster than it can be read");
    step_ = step::load;
  } else if (word == "M") {
    gone_ = true;
    fail(batch_failure::cause::format,
         damaged_key(filter_.keys.state(filter_.generation, batch_.partition), "is missing").what());
  } else if (word == "C") {
    fail(batch_failure::cause::format,
         damaged_key(filter_.keys.state(filter_.generation, batch_.partition), "lacks a valid count").what());
  } else if (word.starts_with('D')) {
    const auto number = static_cast<std::size_t>(std::stoul(std::string(word.substr(1))));
    const segment_id id = step_ == step::publish ? new_segment_ : asked_.at(number - 1);
    fail(batch_failure::cause::format, damaged_key(filter_.keys.segment(filter_.generation, id),
                                                   "is missing, or has another type or length")
                                           .what());
  } else {
    return false;
  }
  return true;
}

void partition_task::take_verdicts(std::string_view verdicts) {
  sequence_.clear();
  if (take_refusal(verdicts)) return;
  if (verdicts.size() > count_)
    return fail(batch_failure::cause::backend, "the server answered more than it was asked");
  stale_ = 0;
  confirmed_ = true;
  bool no_room = false;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    batch_.out[from_ + i] = static_cast<verdict>(verdicts[i] - '0');
    no_room |= verdicts[i] == '3';
  }
  const bool stopped = verdicts.size() < count_;
  from_ += verdicts.size();
  if (no_room && !full_) {
    full_ = batch_failure{batch_failure::cause::full,
                          "the filter is full: it was created for " + std::to_string(filter_.spec.capacity) +
                              " keys without growth; create a larger one, or one that grows",
                          {}};
  }
  if (from_ == batch_.digests.size()) {
    failure_ = std::move(full_);
    return;
  }
  if (stopped) return begin_growth(slice_of(from_));
  plan();
}

void partition_task::take_length(const reply& r) {
  if (take_refusal(r.text())) return;
  length_ = static_cast<std::uint64_t>(r.integer());
  if (length_ >= next_state_->find(new_segment_.slice)->layers[new_segment_.layer].shape.bytes)
    step_ = step::publish;
}

void partition_task::take_published(std::string_view word) {
  if (take_refusal(word)) return;
  stale_ = 0;
  known_ = std::make_shared<const remote_partition>(*std::move(next_state_));
  plan();
}

void partition_task::fail(batch_failure::cause why, std::string message) {
  failure_ = batch_failure{why, std::move(message), {}};
}

void partition_task::fail(const reply& r) {
  const std::string key = filter_.keys.state(filter_.generation, batch_.partition);
  const std::string said(r.text());
  // Searched for: servers before Redis 7 put words of their own before what failed inside a script.
  if (said.find("WRONGTYPE") != std::string::npos)
    return fail(
        batch_failure::cause::format,
        damaged_key(step_ == step::lengthen ? filter_.keys.segment(filter_.generation, new_segment_) : key,
                    "has another type")
            .what());
  if (said.find("OOM ") != std::string::npos)
    return fail(batch_failure::cause::backend, "the Redis server has reached its maxmemory (at " + key +
                                                   "); give it more, or drop a filter");
  fail(batch_failure::cause::backend, "the Redis server refused a command on " + key + ": " + said);
}

}  // namespace everseen::redis
