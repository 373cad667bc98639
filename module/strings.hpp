#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "everseen/core/segments.hpp"

#include "module/batch.hpp"
#include "module/record.hpp"
#include "module/values.hpp"

namespace everseen::redis_module {

/// What the partition lacks to go on: the next segment of a slice.
struct segment_needed {
  segment_id id;
  geometry shape;
  std::uint64_t capacity = 0;
};

/// The segments of a partition where the server has them: Redis strings, touched in place.
///
/// Each is opened once for a batch, and its bytes stay where they are as long as nothing else runs on the
/// server. It makes no segment while others are open, since that may move things: create() fails, notes what
/// is needed, and the caller makes it in between (growth.hpp).
class string_segments final : public segments {
 public:
  /// Opens what the keys of a batch are compared with.
  /// @param adding  the newest layers of their slices are to be written
  /// @pre of several slices none is newer than all that are there
  /// @return the first that is not what the record says, or may not be touched
  std::optional<refusal> open(api::context* ctx, api::string* state, const record& r, const batch& b,
                              bool adding);

  /// What create() was asked for.
  [[nodiscard]] const std::optional<segment_needed>& needed() const noexcept { return needed_; }

  [[nodiscard]] std::byte* at(const segment_id& id) const noexcept override;
  /// @throws storage_error  else always    @throws full_error  no Redis string is as long as that
  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override;
  /// Never called: what expires goes when a segment is made, and that create() leaves to others.
  void drop_before(std::uint32_t partition, window::slice_index oldest) override;
  /// Nothing: who judges compares the states before and after.
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
