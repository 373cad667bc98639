#include "module/commands/filter_key.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/base/digits.hpp"

#include "module/server/free_memory.hpp"
#include "module/server/settings.hpp"
#include "module/value/filter_chunks.hpp"

namespace everseen::redis_module {

namespace {

constexpr const char* too_little_memory =
    "OOM the filter needs another layer, for which the server's maxmemory leaves no room; no key was added";
constexpr const char* too_large =
    "ERR the filter would be larger than this server's MAX_SIZE allows; no key was added";

/// Takes layers from what is left, if they are not more than that.
bool take(std::uint64_t& left, std::span<const std::uint64_t> layers) noexcept {
  return std::ranges::all_of(layers, [&](std::uint64_t bytes) {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
}

}  // namespace

filter_key::filter_key(api::context* ctx, api::string* name, int mode)
    : name_(name), key_(std::in_place, ctx, name, mode) {
  const bool exists = key_->get() != nullptr && key_->type() != api::type_empty;
  filter_ = filter_of(key_->get());
  if (exists && filter_ == nullptr) throw bad_word{api::wrong_type};
}

filter_value& filter_key::filter_or_not_found() const {
  if (filter_ == nullptr) throw bad_word{"ERR not found"};
  return *filter_;
}

filter_value& filter_key::filter_or_gone() const {
  if (filter_ == nullptr) throw refused_reply{"GONE there is no filter at this key"};
  return *filter_;
}

filter_value& filter_key::make(api::context* ctx, std::unique_ptr<filter_value> made) {
  filter_ = &put(key_->get(), std::move(made));
  const value_chunk header = chunk_after(*filter_, 0, 0);
  api::replicate(ctx, load_command(*filter_), "slb", name_, 1LL,
                 reinterpret_cast<const char*>(header.bytes.data()), header.bytes.size());
  is_new_ = true;
  return *filter_;
}

void filter_key::end(api::context* ctx, const char* event) {
  key_.reset();
  filter_ = nullptr;
  if (is_new_) (void)api::notify_keyspace_event(ctx, api::notify_module, "bf.reserve", name_);
  if (event != nullptr) (void)api::notify_keyspace_event(ctx, api::notify_module, event, name_);
}

void must_be_allowed(api::context* ctx, std::uint64_t bytes_before, std::span<const std::uint64_t> layers) {
  std::uint64_t left = settings().most_bytes - std::min(settings().most_bytes, bytes_before);
  if (!take(left, layers) && !repeats_a_decision(ctx)) throw bad_word{too_large};
}

void must_fit(api::context* ctx, std::uint64_t bytes_before, std::span<const std::uint64_t> layers) {
  must_be_allowed(ctx, bytes_before, layers);
  if (repeats_a_decision(ctx)) return;
  std::uint64_t left = bytes_left(ctx);
  if (!take(left, layers)) throw bad_word{too_little_memory};
}

void prepare(api::context* ctx, filter_value& filter, const slice_batch& keys) {
  const std::vector<std::uint64_t> layers = filter.layers_for(keys);
  if (layers.empty()) return;
  must_fit(ctx, filter.bit_bytes(), layers);
  filter.prepare(layers);
}

void must_accept(const filter_value& filter) {
  if (filter.successor()) throw refused_reply{"SEALED " + hex_of(*filter.successor())};
}

void must_be_plain(const spec& s) {
  if (s.partitions != 1 || s.window)
    throw bad_word{
        "ERR the filter has a window, or is one partition of several: use EVERSEEN.ADD, EVERSEEN.CHECK and "
        "EVERSEEN.LOADCHUNK"};
}

std::vector<digest> digests_of(const hasher& hash, std::span<const std::string_view> keys) {
  std::vector<digest> digests(keys.size());
  hash(keys, digests);
  return digests;
}

}  // namespace everseen::redis_module
