#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "everseen/core/partition/segments.hpp"

namespace everseen {

/// Zeroed, 64-byte aligned memory that requests huge pages from 2 MB on.
///
/// A filter in DRAM touches a random line per key. With 4 KiB pages each touch is also a TLB miss, and each
/// page costs a fault, of up to 10 µs on a virtual machine. So a large filter is two to three times as fast
/// in huge pages. But a huge page is zeroed completely at its first touch: a few keys in a filter for
/// billions would cost gigabytes of memory. So a caller may start with small pages.
class huge_memory {
 public:
  huge_memory() = default;
  enum class pages : std::uint8_t {
    huge,   ///< immediately
    small,  ///< until gather() makes them huge
  };
  /// @throws storage_error  out of memory
  explicit huge_memory(std::size_t bytes, pages at_first = pages::huge);
  ~huge_memory();
  huge_memory(huge_memory&& other) noexcept { swap(other); }
  huge_memory& operator=(huge_memory&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Gathers small pages into huge ones, the next 32 MiB with each call, and touches all of that memory if it
  /// has been touched at all; from the first call on, whatever is touched gets huge pages. Does nothing if
  /// all pages are huge already, or the kernel has no huge pages. Cost: some 10 ms.
  void gather() noexcept;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  void swap(huge_memory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(huge_bytes_, other.huge_bytes_);
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  void* mapping_ = nullptr;  // null: the memory is from the heap
  std::size_t mapped_bytes_ = 0;
  std::size_t huge_bytes_ = 0;  // from the start on, as far as gather() came
};

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
