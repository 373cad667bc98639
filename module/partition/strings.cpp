#include "module/partition/strings.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/format/partition_keys.hpp"

#include "module/server/moving.hpp"
#include "module/server/permission.hpp"

namespace everseen::redis_module {

std::optional<refusal> string_segments::open(api::context* ctx, api::string* state, const record& r,
                                             const batch& b, bool adding) {
  const std::string name(text_of(state));
  const auto now = b.digests.empty() ? b.slice : b.slice_of(0);
  const auto newest = r.state.slices.empty() ? now : std::max(now, r.state.slices.back().index);
  const user_permissions& permitted = user_permissions::of(ctx);
  for (const slice_state& slice : r.state.slices) {
    if (r.spec().window && slice.index < window::oldest_live(*r.spec().window, newest)) continue;
    for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer) {
      const segment_id id = {r.number, slice.index, layer};
      const bool written = adding && layer + 1 == slice.layers.size() && b.has_keys_of(slice.index);
      const int mode = written ? api::read_key | api::write_key : api::read_key;
      const value key_name(ctx, partition_keys::segment(name, id));
      if (!permitted.on(key_name.get(), written))
        return refusal{.why = refusal::kind::forbidden, .text = std::string(key_name.text())};
      open_key key(ctx, key_name.get(), mode);
      if (key.type() == api::type_empty && is_moving(ctx, std::array{state, key_name.get()}))
        return refusal{.why = refusal::kind::moving};
      if (key.type() != api::type_string || key.length() != slice.layers[layer].shape.bytes)
        return refusal{.why = refusal::kind::segment, .id = id};
      auto* const bytes = reinterpret_cast<std::byte*>(key.bytes(mode));
      all_.push_back({id, std::move(key), bytes});
    }
  }
  return {};
}

std::byte* string_segments::at(const segment_id& id) const noexcept {
  const auto found = std::ranges::lower_bound(all_, id, {}, &opened::id);
  EVERSEEN_ASSERT(found != all_.end() && found->id == id);
  return found->bytes;
}

void string_segments::create(const segment_id& id, const geometry& shape, std::uint64_t capacity) {
  if (const auto excess = partition_keys::excess_of(shape); !excess.empty())
    throw full_error("the filter cannot grow further: " + std::string(excess));
  needed_ = {id, shape, capacity};
  throw storage_error("the segment must be created by the caller", 0, image::to_string(id));
}

void string_segments::drop_before(std::uint32_t /*partition*/, window::slice_index /*oldest*/) {
  EVERSEEN_ASSERT(false);
}

void string_segments::note_keys(const segment_id& /*id*/, std::uint64_t /*keys*/) noexcept {}

}  // namespace everseen::redis_module
