#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "everseen/core/layout.hpp"
#include "everseen/core/window.hpp"

namespace everseen {

/// Which bit array of a filter.
struct segment_id {
  std::uint32_t partition = 0;
  window::slice_index slice = 0;
  std::uint32_t layer = 0;
  friend constexpr auto operator<=>(const segment_id&, const segment_id&) = default;
};

/// The place that keeps one partition's bit arrays: memory, mapped files, strings of a Redis server.
///
/// The port through which the pure partition logic touches bytes. An implementation need not be thread-safe
/// for one partition: its caller holds the partition's lock, for all functions but `at` exclusively.
class segments {
 public:
  virtual ~segments() = default;

  /// The bytes of a segment that exists, valid until it is dropped; best 64-byte aligned (kernels.hpp).
  [[nodiscard]] virtual std::byte* at(const segment_id& id) const noexcept = 0;

  /// A new segment, all zero, remembered durably before this returns.
  /// @throws storage_error  no memory or disk; nothing has changed then
  virtual void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) = 0;

  /// Forgets all segments of a partition whose slice is older than `oldest`.
  /// @throws storage_error  nothing has changed then
  virtual void drop_before(std::uint32_t partition, window::slice_index oldest) = 0;

  /// Takes note of how many keys a segment holds now, after a batch.
  virtual void note_keys(const segment_id& id, std::uint64_t keys) noexcept = 0;
};

}  // namespace everseen
