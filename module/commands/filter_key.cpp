#include "module/commands/filter_key.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "everseen/core/base/digits.hpp"

#include "module/server/settings.hpp"
#include "module/value/filter_chunks.hpp"

namespace everseen::redis_module {

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

void must_fit(api::context* ctx, std::uint64_t bytes_before, std::span<const std::uint64_t> layers) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - bytes_before;
  std::uint64_t more = 0;
  for (const std::uint64_t bytes : layers) more += std::min(bytes, most - more);
  must_fit(ctx, bytes_before + more, more);
}

void prepare(api::context* ctx, filter_value& filter, const slice_batch& keys) {
  const std::vector<std::uint64_t> layers = filter.layers_for(keys);
  if (layers.empty()) return;
  must_fit(ctx, filter.bit_bytes(), layers);
  filter.prepare(layers);
}

void must_be(const filter_value& filter, const api::string* fingerprint) {
  const std::string_view meant = fingerprint == nullptr ? std::string_view() : text_of(fingerprint);
  if (!meant.empty() && meant != filter.fingerprint())
    throw refused_reply{"COPIED the value belongs to another filter, or is another partition"};
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
