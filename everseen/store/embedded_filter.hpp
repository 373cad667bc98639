#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <vector>

#include "everseen/core/partition.hpp"
#include "everseen/store/store.hpp"

namespace everseen {

/// A filter whose bits this process can address: the common part of the memory and the file store.
///
/// One lock a partition: adds take it alone, look-ups share it. A batch visits its partitions in order of
/// number, beginning at a different one for each thread, so that threads do not queue behind each other.
class embedded_filter : public stored_filter {
 public:
  /// @param states  one a partition, all with their segments in `place`
  embedded_filter(const spec& s, segments& place, std::vector<partition_state> states);

  [[nodiscard]] const spec& get_spec() const noexcept override { return spec_; }
  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;

  /// Forgets every key, partition by partition.
  void forget();

 private:
  struct alignas(64) guarded {  // a line each: neighbours' locks must not share one
    mutable std::shared_mutex lock;
    partition logic;
    guarded(const spec& s, std::uint32_t number, segments& place, partition_state state)
        : logic(s, number, place, std::move(state)) {}
  };

  const spec spec_;
  segments& place_;
  std::vector<std::unique_ptr<guarded>> partitions_;
};

}  // namespace everseen
