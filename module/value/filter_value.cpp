#include "module/value/filter_value.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/chunk_places.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/growth.hpp"

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
bool is_sized_for(const layer_state& layer, const growth::layer_plan& plan) {
  constexpr double tolerance = 1.01;
  return layer.capacity == plan.capacity && layer.shape.bytes / 2 <= plan.shape.bytes &&
         sizing::error_rate(layer.shape, static_cast<double>(layer.capacity)) <= tolerance * plan.error_rate;
}

/// The state that a header announces, if its spec could have led to it.
partition_state state_in(const announced_filter& header) {
  const auto refuse = [](const char* why) {
    throw format_error(std::string("not a filter of one key: it has ") + why);
  };
  if (header.spec.partitions != 1) refuse("several partitions");
  partition_state state;
  for (const auto& [id, layer] : header.segments) {
    if (id.partition != 0) refuse("a segment of another partition");
    if (state.slices.empty() || state.slices.back().index != id.slice) state.slices.push_back({id.slice, {}});
    std::vector<layer_state>& layers = state.slices.back().layers;
    if (id.layer != layers.size()) refuse("a layer too few or too many");
    if (layer.keys > layer.capacity && header.spec.growth != growth_kind::overfill)
      refuse("more keys than a layer takes");
    if (id.layer > 0 && header.spec.growth != growth_kind::grow) refuse("a layer, and must not grow");
    if (!is_foreign(header.spec.layout) && !is_sized_for(layer, growth::plan_layer(header.spec, id.layer)))
      refuse("a layer of a size that its capacity and rate do not lead to");
    layers.push_back(layer);
  }
  if (header.spec.window) refuse("a window");  // a replica would judge by another clock
  if (state.slices.size() > 1) refuse("slices");
  return state;
}

}  // namespace

filter_value::filter_value(const spec& s)
    : spec_(s), hash_(s.hash, s.seed, s.foreign.funnel), copy_(image::copy_of(s)), judge_(spec_, 0, *this) {
  EVERSEEN_ASSERT(s.partitions == 1);
}

filter_value::filter_value(const announced_filter& header)
    : spec_(header.spec),
      hash_(spec_.hash, spec_.seed, spec_.foreign.funnel),
      copy_(header.copy),
      judge_(spec_, 0, *this, state_in(header)) {
  for (const auto& [id, layer] : header.segments)
    parts_.push_back({id, layer.shape.bytes, server_memory(layer.shape.bytes)});
}

filter_value::filter_value(const announced_filter& header, std::vector<server_memory> bits)
    : spec_(header.spec),
      hash_(spec_.hash, spec_.seed, spec_.foreign.funnel),
      copy_(header.copy),
      judge_(spec_, 0, *this, state_in(header)) {
  EVERSEEN_ASSERT(bits.size() == header.segments.size());
  for (std::size_t i = 0; i < bits.size(); ++i)
    parts_.push_back({header.segments[i].id, header.segments[i].layer.shape.bytes, std::move(bits[i])});
}

filter_value::filter_value(const filter_value& other) : filter_value(other.announced()) {
  for (std::size_t i = 0; i < parts_.size(); ++i) std::ranges::copy(other.bits(i), bits(i).begin());
}

filter_value::~filter_value() = default;

std::size_t filter_value::memory() const noexcept {
  return sizeof *this + parts_.size() * (sizeof(part) + sizeof(layer_state)) +
         static_cast<std::size_t>(bit_bytes());
}

std::vector<std::uint64_t> filter_value::layers_for(std::span<const digest> keys) const {
  std::span<const layer_state> layers;
  if (!state().slices.empty()) layers = state().slices.front().layers;
  std::uint64_t room = 0, wanted = keys.size();
  if (!layers.empty()) {
    if (spec_.growth != growth_kind::grow) return {};
    const layer_state& newest = layers.back();
    room = newest.capacity - std::min(newest.capacity, newest.keys);
    if (wanted <= room) return {};
    std::vector<verdict> verdicts(keys.size());  // most keys of a batch have often been seen
    check(keys, verdicts);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> fresh;  // a key may occur several times
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (verdicts[i] == verdict::fresh) fresh.emplace_back(keys[i].low, keys[i].high);
    std::ranges::sort(fresh);
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    wanted = fresh.size();
  }
  std::vector<std::uint64_t> sizes;
  for (auto index = static_cast<unsigned>(layers.size()); wanted > room; ++index) {
    if (index > 0 && spec_.growth != growth_kind::grow) break;
    try {
      const growth::layer_plan plan = growth::plan_layer(spec_, index);
      sizes.push_back(plan.shape.bytes);
      room += plan.capacity;
    } catch (const full_error&) {  // add() leaves the rest without a verdict
      break;
    }
  }
  return sizes;
}

void filter_value::prepare(std::span<const std::uint64_t> layers) {
  std::vector<server_memory> made;
  for (const std::uint64_t bytes : layers) made.emplace_back(bytes);
  parts_.reserve(parts_.size() + layers.size());
  prepared_ = std::move(made);
}

void filter_value::add(std::span<const digest> keys, std::span<verdict> out) {
  const auto done = judge_.add({0, keys, {}, out});
  prepared_.clear();
  if (done || done.error().why == batch_failure::cause::full) return;
  // Not even a few bytes were left, after bits had changed. The server ends where it has no memory, too; with
  // an error instead, its replicas and its AOF would lack these keys.
  std::terminate();
}

void filter_value::check(std::span<const digest> keys, std::span<verdict> out) const {
  (void)judge_.check({0, keys, {}, out});
}

announced_filter filter_value::announced() const {
  announced_filter f{spec_};
  f.copy = copy_;
  for (const slice_state& slice : state().slices)
    for (std::uint32_t i = 0; i < slice.layers.size(); ++i)
      f.segments.push_back({{0, slice.index, i}, slice.layers[i]});
  return f;
}

std::span<std::byte> filter_value::bits(std::size_t index) noexcept {
  return {parts_[index].bits.data(), parts_[index].bytes};
}
std::span<const std::byte> filter_value::bits(std::size_t index) const noexcept {
  return {parts_[index].bits.data(), parts_[index].bytes};
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
  server_memory bits = prepared_.empty() ? server_memory(shape.bytes) : std::move(prepared_.front());
  if (!prepared_.empty()) prepared_.erase(prepared_.begin());
  parts_.insert(std::ranges::lower_bound(parts_, id, {}, &part::id), {id, shape.bytes, std::move(bits)});
}

void filter_value::drop_before(std::uint32_t /*partition*/, window::slice_index oldest) {
  std::erase_if(parts_, [&](const part& each) { return each.id.slice < oldest; });
}

/// Counts are in the state.
void filter_value::note_keys(const segment_id& /*id*/, std::uint64_t /*keys*/) noexcept {}

}  // namespace everseen::redis_module
