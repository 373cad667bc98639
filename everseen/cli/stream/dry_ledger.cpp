#include "everseen/cli/stream/dry_ledger.hpp"

#include <vector>

namespace everseen::cli {

batch_result dry_ledger::claim(const origin& /*from*/, std::span<const claim_batch> batches) {
  std::vector<partition_batch> keys;
  for (const claim_batch& each : batches) keys.push_back(each.keys);
  batch_result judged = filter_->add(keys);
  for (const claim_batch& each : batches) {
    const auto& [names, of_event, width] = each.counts;
    for (std::size_t i = 0; i < each.keys.out.size(); ++i) {
      if (each.keys.out[i] != verdict::fresh) continue;
      for (const std::uint32_t place : of_event.subspan(i * width, width)) {
        const auto found = counters_.find(names[place]);
        if (found != counters_.end())
          ++found->second;
        else
          counters_.emplace(names[place], 1);
      }
    }
  }
  return judged;
}

void dry_ledger::visit_counters(const counter_visitor& visit) const {
  for (const auto& [name, value] : counters_) visit(name, value);
}

}  // namespace everseen::cli
