#pragma once

#include <atomic>
#include <cstdint>

#include "everseen/store/memory/memory_segments.hpp"

namespace everseen::redis {

/// The bits of a filter's mirrors, up to a limit: a process may have many filters open, and one that another
/// client lets grow must not use up the machine's memory.
class mirror_memory final : public memory_segments {
 public:
  mirror_memory(std::uint32_t partitions, std::uint64_t most_bytes)
      : memory_segments(partitions), most_bytes_(most_bytes) {}

  /// @throws storage_error  the limit is reached; says what to do
  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override;
  void drop_before(std::uint32_t partition, window::slice_index oldest) override;

  /// @throws storage_error  these additional bytes would exceed the limit
  void require_room(std::uint64_t bytes) const;

 private:
  const std::uint64_t most_bytes_;
  std::atomic<std::uint64_t> bytes_ = 0;
};

}  // namespace everseen::redis
