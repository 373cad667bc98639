#pragma once

#include <vector>

#include "everseen/core/partition/segments.hpp"
#include "everseen/store/memory/huge_memory.hpp"

namespace everseen {

/// Segments in memory. Each partition has its own list, so that partitions can change concurrently.
class memory_segments : public segments {
 public:
  explicit memory_segments(std::uint32_t partitions) : partitions_(partitions) {}

  [[nodiscard]] std::byte* at(const segment_id& id) const noexcept override;
  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override;
  void drop_before(std::uint32_t partition, window::slice_index oldest) override;
  void expect_keys(const segment_id& id, std::uint64_t keys) noexcept override;
  void note_keys(const segment_id& /*id*/, std::uint64_t /*keys*/) noexcept override {}

 protected:
  /// Total bytes of all segments of a partition.
  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t partition) const noexcept;

 private:
  struct segment {
    segment_id id;
    huge_memory bits;
    std::uint64_t few_keys;  // up to which small pages save memory
  };

  /// Index of a segment in its partition's list, or where to insert it.
  [[nodiscard]] std::size_t place_of(const segment_id& id) const noexcept;

  std::vector<std::vector<segment>> partitions_;  // each list ascends by id: windows have up to 1000 slices
};

}  // namespace everseen
