#include "module/value/filter_value.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <tuple>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/growth.hpp"

#include "module/server/counters.hpp"

// clang-format off

// How a server judges:
//
//   EVERSEEN.ADDPACKED ──> token: answered before? ──> value: sealed? window? room for its layers?
//                                                         │ allocated, or refused as a whole
//                                                     partition::add ──verdicts──> token, reply
//                                                         │
//                                         the call as it came, to replicas and the AOF,
//                                         which judge it again on an equal value
//
// Memory is allocated before a call judges, so a call succeeds or changes nothing. What a replica or an AOF
// repeats was decided by the master; if memory is short for it, the server ends, since an error would lose keys
// silently. The image of a value is its chunks (core/format/chunk_image): in an RDB, an AOF, a dump, and as the
// header that a new filter is replicated as. Filters of RedisBloom's layout have RedisBloom's type and encoding.

// clang-format on

namespace everseen::redis_module {

server_memory::server_memory(std::size_t bytes) {
  // Zeroed memory can only be had from a function that ends the server if there is none. So this much is
  // first asked for in a way that may fail; nothing else runs between the two.
  if (api::try_allocate != nullptr) {
    void* const probe = api::try_allocate(bytes);
    if (probe == nullptr)
      throw storage_error("the server has not " + std::to_string(bytes) + " bytes left", 0, "");
    api::free_memory(probe);
  }
  data_ = static_cast<std::byte*>(api::allocate_zeroed(1, bytes));
}

server_memory::server_memory(char* loaded) noexcept : data_(reinterpret_cast<std::byte*>(loaded)) {}

server_memory::server_memory(server_memory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}

server_memory& server_memory::operator=(server_memory&& other) noexcept {
  std::swap(data_, other.data_);
  return *this;
}

server_memory::~server_memory() {
  if (data_ != nullptr) api::free_memory(data_);
}

void server_memory::move_with(api::defrag_state* state) noexcept {
  if (void* const moved = api::defragment(state, data_); moved != nullptr)
    data_ = static_cast<std::byte*>(moved);
}

namespace {

/// Whether a layer holds its keys at its rate, in about the bytes that it takes here. Not in exactly these: a
/// later version may find better sizes, and must load this one's filters.
bool is_sized_for(const spec& s, const layer_state& layer, const growth::layer_plan& plan) {
  constexpr double tolerance = 1.01;
  if (layer.shape.bytes / 2 > plan.shape.bytes) return false;
  if (is_foreign(s.layout)) return true;  // whose rates follow from sizes that their own system chose
  return layer.capacity == plan.capacity &&
         sizing::error_rate(layer.shape, static_cast<double>(layer.capacity)) <= tolerance * plan.error_rate;
}

/// The state that a header announces, if its spec could have led to it.
partition_state state_in(const announced_filter& header) {
  const auto refuse = [](const char* why) {
    throw format_error(std::string("not a filter of one key: it has ") + why);
  };
  if (header.partition >= header.spec.partitions) refuse("no such partition");
  partition_state state = state_of(header);
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 59;  // of any layer, too; so sums do not wrap
  std::uint64_t bytes = 0;
  for (const auto& [id, layer] : header.segments) {
    bytes += layer.shape.bytes;
    if (layer.shape.bytes > most_bytes || bytes > most_bytes) refuse("more bits than any server holds");
    if (layer.keys > layer.capacity && header.spec.growth != growth_kind::overfill)
      refuse("more keys than a layer takes");
    if (id.layer > 0 && header.spec.growth != growth_kind::grow) refuse("a layer, and must not grow");
    if (!header.is_redisbloom && !is_sized_for(header.spec, layer, growth::plan_layer(header.spec, id.layer)))
      refuse("a layer of a size that its capacity and rate do not lead to");
  }
  if (!header.spec.window || state.slices.empty()) return state;
  const window_spec& w = *header.spec.window;
  const window::slice_index oldest = state.slices.front().index, newest = state.slices.back().index;
  if (!window::has_time(w, oldest) || !window::has_time(w, newest)) refuse("a slice without any time");
  if (oldest < window::oldest_live(w, newest)) refuse("a slice that its window has left");
  return state;
}

}  // namespace

filter_value::filter_value(const spec& s)
    : spec_(s),
      hash_(s.hash, s.seed, s.foreign.funnel),
      content_(image::dumped_content(s)),
      judge_(spec_, number_, *this) {
  EVERSEEN_ASSERT(s.partitions == 1);
}

filter_value::filter_value(const announced_filter& header)
    : spec_(header.spec),
      hash_(spec_.hash, spec_.seed, spec_.foreign.funnel),
      number_(header.partition),
      is_redisbloom_(header.is_redisbloom),
      successor_(header.successor),
      content_(header.content),
      judge_(spec_, number_, *this, state_in(header)) {
  for (const auto& [id, layer] : header.segments)
    parts_.push_back({id, layer.shape.bytes, server_memory(layer.shape.bytes)});
}

filter_value::filter_value(const announced_filter& header, std::vector<server_memory> bits)
    : spec_(header.spec),
      hash_(spec_.hash, spec_.seed, spec_.foreign.funnel),
      number_(header.partition),
      is_redisbloom_(header.is_redisbloom),
      successor_(header.successor),
      content_(header.content),
      judge_(spec_, number_, *this, state_in(header)) {
  EVERSEEN_ASSERT(bits.size() == header.segments.size());
  for (std::size_t i = 0; i < bits.size(); ++i)
    parts_.push_back({header.segments[i].id, header.segments[i].layer.shape.bytes, std::move(bits[i])});
}

filter_value::filter_value(const filter_value& other) : filter_value(other.announced()) {
  for (std::size_t i = 0; i < parts_.size(); ++i) std::ranges::copy(other.bits(i), bits(i).begin());
}

filter_value::~filter_value() = default;

std::size_t filter_value::memory() const noexcept {
  return sizeof *this + fingerprint_.capacity() + parts_.size() * (sizeof(part) + sizeof(layer_state)) +
         static_cast<std::size_t>(bit_bytes());
}

namespace {

constexpr std::size_t offsets_of_a_byte = 256;

std::size_t offset_of(const slice_batch& keys, std::size_t index) noexcept {
  return keys.offsets.empty() ? 0 : static_cast<unsigned char>(keys.offsets[index]);
}

using keys_by_offset = std::array<std::uint32_t, offsets_of_a_byte>;

/// The keys of each slice of a batch that are not seen, each once: the most that its layers can get.
keys_by_offset fresh_in(const slice_batch& keys, std::span<const verdict> verdicts) {
  std::vector<std::tuple<std::size_t, std::uint64_t, std::uint64_t>> fresh;
  for (std::size_t i = 0; i < keys.digests.size(); ++i)
    if (verdicts[i] != verdict::seen)
      fresh.emplace_back(offset_of(keys, i), keys.digests[i].low, keys.digests[i].high);
  std::ranges::sort(fresh);
  keys_by_offset counts{};
  for (std::size_t i = 0; i < fresh.size(); ++i)
    if (i == 0 || fresh[i] != fresh[i - 1]) ++counts[std::get<0>(fresh[i])];
  return counts;
}

/// Appends the layers that `keys` more keys begin in a slice with these ones.
void append_layers(const spec& s, std::span<const layer_state> layers, std::uint64_t keys,
                   std::vector<std::uint64_t>& sizes) {
  std::uint64_t room = 0;
  if (!layers.empty()) room = layers.back().capacity - std::min(layers.back().capacity, layers.back().keys);
  for (auto index = static_cast<unsigned>(layers.size()); index == 0 || keys > room; ++index) {
    if (index > 0 && s.growth != growth_kind::grow) return;
    try {
      const growth::layer_plan plan = growth::plan_layer(s, index);
      sizes.push_back(plan.shape.bytes);
      room += plan.capacity;
    } catch (const full_error&) {  // add() leaves the rest without a verdict
      return;
    }
  }
}

}  // namespace

/// A batch names at most 256 slices. Of new ones, no more are counted than can be live at a time and one: for
/// each further one, the window drops a slice, whose memory is then free. If an older slice of such a batch
/// takes more than one layer, create() allocates the rest: a few bytes for each of at most 65,536 keys.
std::vector<std::uint64_t> filter_value::layers_for(const slice_batch& keys) const {
  keys_by_offset counts{};
  if (keys.offsets.empty()) counts[0] = static_cast<std::uint32_t>(keys.digests.size());
  for (const char offset : keys.offsets) ++counts[static_cast<unsigned char>(offset)];
  const std::vector<slice_state>& slices = state().slices;
  std::vector<std::uint64_t> sizes;
  std::optional<keys_by_offset> fresh;  // most keys of a batch have often been seen; empty: not looked up
  bool moves = slices.empty();  // keys that are seen now may be fresh once the batch has moved the window
  std::size_t new_slices = spec_.window ? window::live_slices(*spec_.window) + 1 : 1;
  for (std::size_t offset = offsets_of_a_byte; offset-- > 0;) {
    if (counts[offset] == 0) continue;
    const window::slice_index slice = keys.slice + static_cast<window::slice_index>(offset);
    if (spec_.window && !slices.empty() && slice < window::oldest_live(*spec_.window, slices.back().index))
      continue;
    moves = moves || slice > slices.back().index;
    const auto found = std::ranges::lower_bound(slices, slice, {}, &slice_state::index);
    const bool exists = found != slices.end() && found->index == slice;
    if (!exists && new_slices-- == 0) return sizes;
    const std::span<const layer_state> layers = exists ? found->layers : std::span<const layer_state>();
    if (exists && spec_.growth != growth_kind::grow) continue;
    const std::size_t begun = sizes.size();
    append_layers(spec_, layers, counts[offset], sizes);
    if (sizes.size() == begun + (exists ? 0 : 1)) continue;  // that many fit in any case
    if (!fresh) {
      std::vector<verdict> verdicts(keys.digests.size());
      if (!moves) check({keys.digests, verdicts, keys.slice, keys.offsets});
      fresh = fresh_in(keys, verdicts);
    }
    sizes.resize(begun);
    append_layers(spec_, layers, (*fresh)[offset], sizes);
  }
  return sizes;
}

std::vector<std::uint64_t> filter_value::layers_to_extend(window::slice_index slice) const {
  const std::vector<slice_state>& slices = state().slices;
  std::vector<std::uint64_t> sizes;
  if (!slices.empty() && slice < window::oldest_live(*spec_.window, slices.back().index)) return sizes;
  if (std::ranges::find(slices, slice, &slice_state::index) == slices.end())
    append_layers(spec_, {}, 0, sizes);
  return sizes;
}

void filter_value::prepare(std::span<const std::uint64_t> layers) {
  std::vector<prepared> made;
  for (const std::uint64_t bytes : layers) made.push_back({bytes, server_memory(bytes)});
  parts_.reserve(parts_.size() + layers.size());
  prepared_ = std::move(made);
}

namespace {

/// A time in the slice of each key, or one for all; valid until the next call.
std::span<const event_time> times_of(const spec& s, const slice_batch& keys) {
  static std::vector<event_time> times;
  if (!s.window) return {};
  if (keys.offsets.empty()) {
    times.assign(1, window::start_of(*s.window, keys.slice));
    return times;
  }
  times.resize(keys.digests.size());
  const event_time first = window::start_of(*s.window, keys.slice);
  // The first slice begins before the first time that there is, and a later one is asked for by itself.
  const bool is_regular = first != event_time::min();
  const std::chrono::milliseconds width = s.window->slice_width();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto offset = static_cast<window::slice_index>(offset_of(keys, i));
    times[i] = is_regular ? first + offset * width : window::start_of(*s.window, keys.slice + offset);
  }
  return times;
}

/// Not even a few bytes were left, after something had changed. The server ends where it has no memory, too;
/// with an error instead, its replicas and its AOF would lack these keys.
void must_be_done(const batch_result& result) {
  if (!result && result.error().why != batch_failure::cause::full) std::terminate();
}

}  // namespace

bool filter_value::add(const slice_batch& keys, no_room then) {
  const std::uint64_t before = changes_;
  const std::span<const event_time> times = times_of(spec_, keys);
  // Where one slice is full, another one may have room. In one slice, nothing is added after a key without.
  const bool by_slices = then == no_room::ends && spec_.growth == growth_kind::refuse && times.size() > 1;
  std::ranges::fill(keys.out, verdict::unknown);
  std::uint64_t fresh = 0;
  for (std::size_t from = 0; from < keys.digests.size();) {
    std::size_t count = keys.digests.size() - from;
    if (by_slices) count = keys.offsets.find_first_not_of(keys.offsets[from], from);
    if (by_slices) count = std::min(count, keys.digests.size()) - from;
    const batch_result done =
        judge_.add({number_, keys.digests.subspan(from, count),
                    times.size() > 1 ? times.subspan(from, count) : times, keys.out.subspan(from, count)});
    must_be_done(done);
    fresh += (done ? *done : done.error().done).fresh;
    from = done ? from + count : keys.digests.size();
  }
  prepared_.clear();
  return changes_ != before || fresh > 0;
}

namespace {

/// Ascending by id.
std::vector<sibling_segment> segments_of_all(std::span<const filter_value* const> siblings) {
  std::vector<sibling_segment> all;
  for (const filter_value* const sibling : siblings) {
    const announced_filter announced = sibling->announced();
    for (std::size_t i = 0; i < announced.segments.size(); ++i)
      all.push_back({announced.segments[i].id, announced.segments[i].layer, sibling->bits(i)});
  }
  std::ranges::stable_sort(all, {}, &sibling_segment::id);
  return all;
}

}  // namespace

std::vector<std::uint64_t> filter_value::layers_to_merge(
    std::span<const filter_value* const> siblings) const {
  std::vector<std::uint64_t> sizes;
  std::optional<segment_id> last;
  for (const sibling_segment& each : segments_of_all(siblings)) {
    const bool exists = std::ranges::binary_search(parts_, each.id, {}, &part::id);
    if (!exists && last != each.id) sizes.push_back(each.layer.shape.bytes);
    last = each.id;
  }
  return sizes;
}

void filter_value::must_take(std::span<const filter_value* const> siblings) const {
  for (const filter_value* const sibling : siblings) must_be_siblings(spec_, sibling->get_spec());
  judge_.must_fit(segments_of_all(siblings));
}

bool filter_value::merge(std::span<const filter_value* const> siblings) {
  const bool has_changed = judge_.merge(segments_of_all(siblings));
  prepared_.clear();
  return has_changed;
}

void filter_value::check(const slice_batch& keys) const {
  (void)judge_.check({number_, keys.digests, times_of(spec_, keys), keys.out});
}

bool filter_value::extend(window::slice_index slice) {
  const std::uint64_t before = changes_;
  judge_.move_window(window::start_of(*spec_.window, slice));
  prepared_.clear();
  return changes_ != before;
}

void filter_value::clear(content_id content) {
  judge_.forget();
  content_ = content;
}

announced_filter filter_value::announced() const {
  announced_filter f{spec_};
  f.content = content_;
  f.partition = number_;
  f.successor = successor_;
  f.is_redisbloom = is_redisbloom_;
  f.segments = segments_of(number_, state().slices);
  return f;
}

std::span<std::byte> filter_value::bits(std::size_t index) noexcept {
  return {parts_[index].bits.data(), parts_[index].bytes};
}
std::span<const std::byte> filter_value::bits(std::size_t index) const noexcept {
  return {parts_[index].bits.data(), parts_[index].bytes};
}

std::span<std::byte> filter_value::bits_of(const segment_id& id) noexcept {
  const auto found = std::ranges::lower_bound(parts_, id, {}, &part::id);
  if (found == parts_.end() || found->id != id) return {};
  return {found->bits.data(), found->bytes};
}

void filter_value::count_at_least(const segment_id& id, std::uint64_t keys) noexcept {
  judge_.count_at_least(id, keys);
}

void filter_value::move_with(api::defrag_state* state) noexcept {
  for (part& each : parts_) each.bits.move_with(state);
}

std::byte* filter_value::at(const segment_id& id) const noexcept {
  const auto found = std::ranges::lower_bound(parts_, id, {}, &part::id);
  EVERSEEN_ASSERT(found != parts_.end() && found->id == id);
  return found->bits.data();
}

/// From the layers that were prepared.
void filter_value::create(const segment_id& id, const geometry& shape, std::uint64_t /*capacity*/) {
  const auto found = std::ranges::find(prepared_, shape.bytes, &prepared::bytes);
  server_memory bits = found == prepared_.end() ? server_memory(shape.bytes) : std::move(found->bits);
  if (found != prepared_.end()) prepared_.erase(found);
  parts_.insert(std::ranges::lower_bound(parts_, id, {}, &part::id), {id, shape.bytes, std::move(bits)});
  ++changes_;
  ++counters::all().growths;
}

void filter_value::drop_before(std::uint32_t /*partition*/, window::slice_index oldest) {
  std::erase_if(parts_, [&](const part& each) { return each.id.slice < oldest; });
  ++changes_;
}

/// Counts are in the state.
void filter_value::note_keys(const segment_id& /*id*/, std::uint64_t /*keys*/) noexcept {}

}  // namespace everseen::redis_module
