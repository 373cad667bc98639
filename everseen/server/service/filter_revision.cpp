#include "everseen/server/service/filter_revision.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen::server {

namespace {

std::uint64_t state_of(const filter& f, std::optional<event_time> end) {
  const filter_info now = f.info();
  running_checksum all;
  const auto note = [&all](const auto&... numbers) {
    const std::array words = {static_cast<std::uint64_t>(numbers)...};
    all.update(std::as_bytes(std::span(words)));
  };
  note(end.has_value(), end ? end->time_since_epoch().count() : 0, now.keys);
  for (const partition_state& partition : now.partitions) {
    note(partition.slices.size());
    for (const slice_state& slice : partition.slices) {
      note(slice.index, slice.layers.size());
      for (const layer_state& layer : slice.layers) note(layer.shape.bytes, layer.keys);
    }
  }
  return all.value();
}

filter_revision look_at(const filter_registry& filters, const shared_filter& f) {
  filter_facts now = filters.facts_of(f);
  return {f.record, std::move(now.identity), state_of(f.handle, now.expires_at)};
}

}  // namespace

filter_revision revision_of(filter_registry& filters, std::string_view key) {
  for (bool is_again = false;; is_again = true) {
    auto f = filters.open(key);
    if (!f) return {};
    try {
      return look_at(filters, *f);
    } catch (const error& why) {  // it was created again or renamed elsewhere, or has just expired
      f.reset();
      if (!filters.forget_changed(key, why) || is_again) throw;
    }
  }
}

}  // namespace everseen::server
