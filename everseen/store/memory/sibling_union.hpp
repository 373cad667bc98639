#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/core/partition/sibling.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/store/memory/memory_segments.hpp"

namespace everseen {

/// One partition of several siblings as that of a single one, to be sent to where they are merged.
class sibling_union {
 public:
  /// @param siblings  as partition::merge; not used after this
  /// @pre the spec outlives this    @throws parameter_error  as partition::must_fit    @throws storage_error
  sibling_union(const spec& s, std::uint32_t partition, std::span<const sibling_segment> siblings);

  [[nodiscard]] const partition_state& state() const noexcept { return all_.state(); }
  /// Ascending by id.
  [[nodiscard]] std::vector<sibling_segment> segments() const;

 private:
  std::uint32_t partition_;
  memory_segments bits_;
  partition all_;
};

}  // namespace everseen
