#include "everseen/filter/filter.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "everseen/core/base/names.hpp"
#include "everseen/core/partition/rates.hpp"
#include "everseen/core/partition/sibling.hpp"
#include "everseen/core/spec/fitting_keys.hpp"
#include "everseen/core/spec/window.hpp"
#include "everseen/filter/room.hpp"
#include "everseen/filter/scatter.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen {

namespace {

/// Keys hashed and sorted per chunk: their digests stay in L2 until they are judged.
constexpr std::size_t chunk_keys = 16'384;

struct scratch {
  fitting_keys fitting;
  scatter sorted;
};

scratch& thread_scratch() {
  thread_local scratch mine;
  return mine;
}

void check_batch(const filter& f, std::size_t keys, std::size_t verdicts,
                 std::span<const event_time> key_times) {
  const std::size_t times = key_times.size();
  if (verdicts != keys)
    throw parameter_error("room for " + std::to_string(verdicts) + " verdicts of " + std::to_string(keys) +
                          " keys; pass one per key");
  if (times > 1 && times != keys)
    throw parameter_error(std::to_string(times) + " times for " + std::to_string(keys) +
                          " keys; pass one for all or one per key");
  if (f.get_spec().window && times == 0 && keys > 0)
    throw parameter_error("the filter has a window; pass the time of the keys");
  f.must_accept(key_times);
}

/// Merges the outcome of one chunk into that of the earlier chunks. The first failure is reported, unless a
/// later one ended the batch.
void join(batch_result& all, batch_result chunk) {
  const tally more = chunk ? *chunk : chunk.error().done;
  if (!chunk && (all || chunk.error().ends_batch())) {
    chunk.error().done += all ? *all : all.error().done;
    all = std::move(chunk);
  } else {
    (all ? *all : all.error().done) += more;
  }
}

/// Runs `judge_chunk(from, count)` on each chunk of a batch.
template <typename JudgeChunk>
batch_result for_each_chunk(std::span<verdict> out, JudgeChunk judge_chunk) {
  batch_result all = tally{};
  for (std::size_t from = 0; from < out.size(); from += chunk_keys) {
    const std::size_t count = std::min(chunk_keys, out.size() - from);
    batch_result judged = judge_chunk(from, count);
    const bool go_on = judged || !judged.error().ends_batch();
    join(all, std::move(judged));
    if (go_on) continue;
    const std::span<verdict> rest = out.subspan(from + count);
    std::fill(rest.begin(), rest.end(), verdict::unknown);
    all.error().done.unknown += rest.size();
    break;
  }
  return all;
}

batch_result with_remedy(const filter& f, batch_result judged) {
  if (!judged) name_remedy(judged.error(), f);
  return judged;
}

std::span<const event_time> times_of_chunk(std::span<const event_time> times, std::size_t from,
                                           std::size_t count) {
  return times.size() > 1 ? times.subspan(from, count) : times;
}

template <typename Judge>
batch_result judge_digests(const filter& f, std::span<const digest> digests,
                           std::span<const event_time> times, std::span<verdict> out, Judge judge) {
  check_batch(f, digests.size(), out.size(), times);
  scatter& sorted = thread_scratch().sorted;
  return for_each_chunk(out, [&](std::size_t from, std::size_t count) {
    const auto batches = sorted.sort(digests.subspan(from, count), times_of_chunk(times, from, count),
                                     f.stored().batch_partitions(), out.subspan(from, count));
    batch_result judged = judge(batches);
    sorted.gather();
    return with_remedy(f, std::move(judged));
  });
}

template <typename Judge>
batch_result judge_keys(const filter& f, const fitting_keys::batch& all, Judge judge) {
  check_batch(f, all.keys.size(), all.out.size(), all.times);
  scratch& mine = thread_scratch();
  fitting_keys& fitting = mine.fitting;
  scatter& sorted = mine.sorted;
  return for_each_chunk(all.out, [&](std::size_t from, std::size_t count) {
    fitting.take(f.hash(), {all.keys.subspan(from, count), times_of_chunk(all.times, from, count),
                            all.out.subspan(from, count)});
    const auto& [keys, times, out] = fitting.fitting();
    if (out.empty()) return fitting.give_back(tally{});
    const auto batches = sorted.sort(fitting.digests(), times, f.stored().batch_partitions(), out,
                                     f.stored().wants_keys() ? keys : std::span<const std::string_view>{});
    batch_result judged = judge(batches);
    sorted.gather();
    return fitting.give_back(with_remedy(f, std::move(judged)));
  });
}

}  // namespace

filter::filter(std::string name, std::shared_ptr<stored_filter> stored, time_source clock)
    : name_(std::move(name)),
      stored_(std::move(stored)),
      hash_(get_spec().hash, get_spec().seed, get_spec().foreign.funnel),
      clock_(std::move(clock)) {}

void filter::must_accept(std::span<const event_time> times) const {
  if (const auto& window = get_spec().window) window::must_be_plausible(*window, times, clock_());
}

batch_result filter::add_digests(std::span<const digest> digests, std::span<verdict> out,
                                 std::span<const event_time> times) {
  must_not_want_keys();
  return judge_digests(*this, digests, times, out, [&](auto batches) { return stored_->add(batches); });
}

batch_result filter::may_contain_digests(std::span<const digest> digests, std::span<verdict> out,
                                         std::span<const event_time> times) const {
  must_not_want_keys();
  return judge_digests(*this, digests, times, out,
                       [&](auto batches) { return std::as_const(*stored_).check(batches); });
}

batch_result filter::add(std::span<const std::string_view> keys, std::span<verdict> out,
                         std::span<const event_time> times) {
  return judge_keys(*this, {keys, times, out}, [&](auto batches) { return stored_->add(batches); });
}

batch_result filter::may_contain(std::span<const std::string_view> keys, std::span<verdict> out,
                                 std::span<const event_time> times) const {
  return judge_keys(*this, {keys, times, out},
                    [&](auto batches) { return std::as_const(*stored_).check(batches); });
}

void filter::must_not_want_keys() const {
  if (stored_->wants_keys())
    throw parameter_error("the filter " + quoted_name(name_) +
                          " makes its own hashes; give it keys instead of digests");
}

namespace {

/// Judges a batch of one, which needs no scratch memory.
template <typename Call>
verdict judge_one(const filter& f, std::string_view key, std::span<const event_time> times, Call call) {
  check_batch(f, 1, 1, times);
  const digest d = f.hash()(key);
  verdict out = verdict::unknown;
  const partition_batch batch = {
      partition_of(d, f.stored().batch_partitions()), {&d, 1}, times, {&out, 1}, {&key, 1}};
  const batch_result result = with_remedy(f, call(std::span(&batch, 1)));
  if (!result) result.error().raise();
  return out;
}

}  // namespace

verdict filter::add(std::string_view key) {
  return judge_one(*this, key, {}, [&](auto batches) { return stored_->add(batches); });
}

verdict filter::add(std::string_view key, event_time when) {
  return judge_one(*this, key, {&when, 1}, [&](auto batches) { return stored_->add(batches); });
}

bool filter::may_contain(std::string_view key) const {
  return judge_one(*this, key, {}, [&](auto batches) { return std::as_const(*stored_).check(batches); }) ==
         verdict::seen;
}

bool filter::may_contain(std::string_view key, event_time when) const {
  return judge_one(*this, key, {&when, 1},
                   [&](auto batches) { return std::as_const(*stored_).check(batches); }) == verdict::seen;
}

namespace {

/// A copy of one partition of several filters: the bits can be used while no lock is held, so a filter can
/// even be merged into itself.
class partition_copy {
 public:
  partition_copy(std::span<const filter> from, std::uint32_t partition) {
    for (const filter& each : from)
      each.stored().visit_segments(
          partition, [this](const segment_id& id, const layer_state& layer, std::span<const std::byte> bits) {
            bits_.emplace_back(bits.begin(), bits.end());
            segments_.push_back({id, layer, bits_.back()});
          });
    std::ranges::stable_sort(segments_, {}, &sibling_segment::id);
  }

  [[nodiscard]] std::span<const sibling_segment> segments() const noexcept { return segments_; }

 private:
  std::deque<std::vector<std::byte>> bits_;
  std::vector<sibling_segment> segments_;
};

stored_filter::sibling_source source_of(std::span<const filter> siblings) {
  return [siblings](std::uint32_t partition, const stored_filter::segments_taker& take) {
    take(partition_copy(siblings, partition).segments());
  };
}

/// @throws parameter_error
void must_be_mergeable(const filter& into, const filter& sibling) {
  must_be_siblings(into.sibling_spec(), sibling.sibling_spec());
  if (const auto older = sibling.stored().path().asks_first)
    throw parameter_error(quoted_name(sibling.name()) + " asks " + quoted_name(older->name) +
                          " first, whose keys have other bits. Wait until it no longer does, or end that by "
                          "everseen link --off");
}

template <typename Call>
void with_name_in_refusal(const std::string& name, Call call) {
  try {
    call();
  } catch (const full_error& e) {
    if (e.code() != 0) throw;  // no room
    throw full_error("the filters do not fit into " + quoted_name(name) + ": " + e.what() +
                     ", and more would be called seen by mistake than its error rate allows. Create siblings "
                     "for the keys of all");
  }
}

}  // namespace

void filter::must_fit(std::span<const filter> siblings) const {
  for (const filter& sibling : siblings) must_be_mergeable(*this, sibling);
  with_name_in_refusal(name_, [&] { std::as_const(*stored_).must_fit(source_of(siblings)); });
}

void filter::merge(std::span<const filter> siblings) {
  must_fit(siblings);
  with_name_in_refusal(name_, [&] { stored_->merge(source_of(siblings)); });
}

std::optional<event_time> filter::newest_slice() const {
  const spec& s = get_spec();
  std::optional<window::slice_index> newest;
  for (std::uint32_t p = 0; s.window && p < s.partitions; ++p)
    if (const auto slices = stored_->state(p).slices; !slices.empty())
      newest = std::max(newest.value_or(slices.back().index), slices.back().index);
  if (!newest) return std::nullopt;
  return window::start_of(*s.window, *newest);
}

std::optional<std::string> filter::refusal_of(std::string_view key) const {
  if (const std::size_t most = stored_->longest_key(); key.size() > most)
    return "a key of " + std::to_string(key.size()) + " bytes is not one of up to " + std::to_string(most);
  return hash_.refusal_of(key);
}

spec filter::sibling_spec() const {
  const spec& s = get_spec();
  if (stored_->estimates_keys())
    throw parameter_error(quoted_name(name_) +
                          " is attached: only its own program makes filters with the same bits");
  if (has_secret_seed(s.hash) && s.seed == hash_seed{})
    throw parameter_error(
        quoted_name(name_) +
        " has a secret seed, which everseen serve shows to users with the right 'admin' alone");
  return s;
}

namespace {

/// Reads the bits of the partition if one of its layers is overfilled. Where they are too many to be read for
/// a figure, perhaps over a network, or cannot be read now or by this user, the counts decide.
given_keys read_given_keys(const stored_filter& stored, std::uint32_t partition,
                           const partition_state& state) {
  constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;  // of the filter
  given_keys given(stored.estimates_keys());
  if (stored.estimates_keys() || !given_keys::needs_bits(state) ||
      state.bytes() * stored.get_spec().partitions > most_bytes)
    return given;
  try {
    stored.visit_segments(partition, [&](const segment_id& id, const layer_state& layer,
                                         std::span<const std::byte> bits) { given.count(id, layer, bits); });
  } catch (const error&) {
    return {};
  }
  return given;
}

}  // namespace

filter_info filter::info() const {
  filter_info info;
  info.name = name_;
  info.spec = get_spec();
  for (std::uint32_t p = 0; p < info.spec.partitions; ++p) {
    partition_state state = stored_->state(p);
    info.keys += state.keys();
    info.bytes += state.bytes();
    const given_keys given = read_given_keys(*stored_, p, state);
    info.partition_rates.push_back(error_rate_now(info.spec, state, given));
    info.error_rate_now += info.partition_rates.back() / info.spec.partitions;
    info.expected_false_seen += expected_false_seen(state, given);
    for (const slice_state& slice : state.slices) {
      info.segments += slice.layers.size();
      info.max_layers = std::max(info.max_layers, static_cast<std::uint32_t>(slice.layers.size()));
    }
    info.partitions.push_back(std::move(state));
  }
  info.places = stored_->path().places;
  info.places.resize(info.spec.partitions);
  return info;
}

filter open_or_create(store& in, std::string_view name, const spec_request& request,
                      std::optional<std::chrono::milliseconds> life) {
  constexpr int most_tries = 3;
  // Other processes may create or drop it between the two calls.
  for (int tries = 1;; ++tries) {
    try {
      filter there(std::string(name), in.open(name, access::write));
      must_agree(request, there);
      return there;
    } catch (const no_filter&) {
    }
    try {
      return {std::string(name), in.create(name, in.plan(request), life)};
    } catch (const name_taken&) {
      if (tries == most_tries) throw;
    }
  }
}

void must_agree(const spec_request& request, const filter& f) {
  const std::string differing = differences(request, f.get_spec());
  if (differing.empty()) return;
  throw parameter_error("the filter " + quoted_name(f.name()) +
                        " was created with other options than requested: " + differing +
                        "; request the options that it has, open it as it is, or choose another name");
}

filter open(store& in, std::string_view name, access mode) {
  return with_known_filter(in, name, [&] { return filter(std::string(name), in.open(name, mode)); });
}

}  // namespace everseen
