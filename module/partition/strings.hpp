#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "everseen/core/partition/segments.hpp"

#include "module/partition/batch.hpp"
#include "module/partition/record.hpp"
#include "module/server/values.hpp"

namespace everseen::redis_module {

/// What the partition needs to continue: the next segment of a slice.
struct segment_needed {
  segment_id id;
  geometry shape;
  std::uint64_t capacity = 0;
};

/// The segments of a partition on the server: Redis strings, accessed in place.
///
/// Each is opened once per batch, and its bytes do not move as long as nothing else runs on the server. No
/// segment is created while others are open, since that could move memory: create() records what is needed
/// and fails; the caller creates the segment in between (growth.hpp).
class string_segments final : public segments {
 public:
  /// Opens the segments that the keys of a batch are compared with.
  /// @param adding  the newest layers of their slices will be written
  /// @pre if the batch has several slices, none is newer than the newest existing one
  /// @return the first one that does not match the record, or may not be accessed
  std::optional<refusal> open(api::context* ctx, api::string* state, const record& r, const batch& b,
                              bool adding);

  /// What create() was called for.
  [[nodiscard]] const std::optional<segment_needed>& needed() const noexcept { return needed_; }

  [[nodiscard]] std::byte* at(const segment_id& id) const noexcept override;
  /// @throws full_error     it would exceed the length of a Redis string
  /// @throws storage_error  otherwise, always
  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override;
  /// Never called: expired segments are removed when a segment is created, which create() does not do.
  void drop_before(std::uint32_t partition, window::slice_index oldest) override;
  /// Does nothing: the caller compares the states before and after.
  void note_keys(const segment_id& id, std::uint64_t keys) noexcept override;

 private:
  struct opened {
    segment_id id;
    open_key key;
    std::byte* bytes;
  };
  std::vector<opened> all_{};
  std::optional<segment_needed> needed_{};
};

}  // namespace everseen::redis_module
