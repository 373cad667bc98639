#include "everseen/server/service/filter_revision.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

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

}  // namespace

filter_revision revision_of(filter_registry& filters, std::string_view key) {
  for (;;) {
    auto f = filters.open(key);
    if (!f) return {};
    try {
      return {f->record, state_of(f->handle, filters.expiry_of(*f))};
    } catch (const error& why) {  // it was created again elsewhere, or has just expired
      f.reset();
      if (!filters.forget_changed(key, why)) throw;
    }
  }
}

}  // namespace everseen::server
