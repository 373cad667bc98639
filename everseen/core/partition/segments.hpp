#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "everseen/core/layout/layout.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen {

/// Identifies one bit array of a filter.
struct segment_id {
  std::uint32_t partition = 0;
  window::slice_index slice = 0;
  std::uint32_t layer = 0;
  friend constexpr auto operator<=>(const segment_id&, const segment_id&) = default;
};

/// Storage for one partition's bit arrays: memory, mapped files, or Redis strings.
///
/// The port through which the pure partition logic accesses bytes. An implementation need not be thread-safe
/// for one partition: the caller holds the partition's lock, exclusively for all functions except `at`.
class segments {
 public:
  virtual ~segments() = default;

  /// The bytes of an existing segment, valid until it is dropped; 64-byte alignment is fastest (kernels.hpp).
  [[nodiscard]] virtual std::byte* at(const segment_id& id) const noexcept = 0;

  /// Creates a zeroed segment and records it durably before returning.
  /// @throws storage_error  out of memory or disk space; nothing has changed
  /// @throws full_error     the filter may not take as much; nothing has changed
  virtual void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) = 0;

  /// Drops all segments of a partition whose slice is older than `oldest`.
  /// @throws storage_error  nothing has changed
  virtual void drop_before(std::uint32_t partition, window::slice_index oldest) = 0;

  /// Announces how many keys a segment will have at most after what is added next, so that its memory can be
  /// arranged before it is touched. Does nothing by itself.
  virtual void expect_keys(const segment_id& /*id*/, std::uint64_t /*keys*/) noexcept {}

  /// Records a segment's key count after a batch.
  virtual void note_keys(const segment_id& id, std::uint64_t keys) noexcept = 0;
};

}  // namespace everseen
