#include "everseen/store/link/regrouped.hpp"

namespace everseen {

regrouped::regrouped(std::span<const partition_batch> batches, std::uint32_t partitions, bool timed,
                     which keys)
    : groups_(partitions) {
  for (const partition_batch& batch : batches)
    for (std::size_t i = 0; i < batch.digests.size(); ++i) {
      if (keys == which::unknown && batch.out[i] != verdict::unknown) continue;
      group& to = groups_[partition_of(batch.digests[i], partitions)];
      to.digests.push_back(batch.digests[i]);
      to.wanted_at.push_back(&batch.out[i]);
      if (!batch.keys.empty()) to.keys.push_back(batch.keys[i]);
      if (timed) to.times.push_back(batch.times[batch.times.size() == 1 ? 0 : i]);
    }
  for (std::uint32_t p = 0; p < partitions; ++p) {
    group& g = groups_[p];
    if (g.digests.empty()) continue;
    g.verdicts.assign(g.digests.size(), verdict::unknown);
    batches_.push_back({p, g.digests, g.times, g.verdicts, g.keys});
  }
}

void regrouped::give_back() const noexcept {
  for (const group& g : groups_)
    for (std::size_t i = 0; i < g.verdicts.size(); ++i) *g.wanted_at[i] = g.verdicts[i];
}

}  // namespace everseen
