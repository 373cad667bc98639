#include "everseen/redis/journal/mirror_memory.hpp"

#include <string>

#include "everseen/core/base/error.hpp"

namespace everseen::redis {

void mirror_memory::require_room(std::uint64_t bytes) const {
  if (bytes_ + bytes <= most_bytes_) return;
  throw storage_error(
      "the clients of this filter judge it, and its bits take more than the " +
          std::to_string(most_bytes_ >> 10) +
          " KiB that a client may use for them; raise mirror= in the URL of the store, or create "
          "a filter that its servers judge",
      0, {});
}

void mirror_memory::create(const segment_id& id, const geometry& shape, std::uint64_t capacity) {
  require_room(shape.bytes);
  bytes_ += shape.bytes;
  try {
    memory_segments::create(id, shape, capacity);
  } catch (...) {
    bytes_ -= shape.bytes;
    throw;
  }
}

void mirror_memory::drop_before(std::uint32_t partition, window::slice_index oldest) {
  const std::uint64_t before = bytes_of(partition);
  memory_segments::drop_before(partition, oldest);
  bytes_ -= before - bytes_of(partition);
}

}  // namespace everseen::redis
