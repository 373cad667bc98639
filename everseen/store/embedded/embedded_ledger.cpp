#include "everseen/store/embedded/embedded_ledger.hpp"

#include <vector>

#include "everseen/store/embedded/embedded_filter.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen {

batch_result embedded_ledger::claim(const lane_progress& from, std::span<const claim_batch> batches) {
  forget_verdicts(batches);
  for (const claim_batch& batch : batches)
    if (batch.counts.per_event > 0 && !job_->has_counters())
      throw parameter_error(
          "counters are kept by Redis alone, in one step with the keys; open the filter by a redis: URL");
  const std::scoped_lock in_order(job_->lock);
  batch_result judged = filter_.claim(*job_, from, batches);
  for (const claim_batch& batch : batches) count_fresh(batch);
  return judged;
}

/// Those that an earlier claim had are counted.
void embedded_ledger::count_fresh(const claim_batch& batch) {
  const auto& [names, of_event, width] = batch.counts;
  if (width == 0) return;
  for (std::size_t i = 0; i < batch.keys.out.size(); ++i) {
    if (batch.keys.out[i] != verdict::fresh || batch.claimed_before[i] != 0) continue;
    for (const std::uint32_t place : of_event.subspan(i * width, width)) {
      const auto found = job_->counted.find(names[place]);
      if (found != job_->counted.end())
        ++found->second;
      else
        job_->counted.emplace(names[place], 1);
    }
  }
}

void embedded_ledger::visit_counters(const counter_visitor& visit) const {
  const std::scoped_lock in_order(job_->lock);
  for (const auto& [name, value] : job_->counted) visit(name, value);
}

bool embedded_ledger::settle(std::span<const checkpoint> reached) {
  const std::scoped_lock in_order(job_->lock);
  std::vector<checkpoint> ahead;
  for (const checkpoint& c : reached) {
    const auto before = job_->reached.find(c.lane);
    const std::uint64_t so_far = before == job_->reached.end() ? 0 : before->second.position;
    if (c.from.value_or(so_far) != so_far) return false;
    if (so_far <= c.position) ahead.push_back({c.lane, c.position, c.note});
  }
  if (ahead.empty()) return true;
  job_->note_checkpoints(ahead);
  for (const checkpoint& c : ahead) job_->reached.insert_or_assign(c.lane, c);
  return true;
}

std::map<std::string, checkpoint, std::less<>> embedded_ledger::checkpoints() const {
  const std::scoped_lock in_order(job_->lock);
  return job_->reached;
}

std::string embedded_ledger::doubt() const {
  const std::scoped_lock in_order(job_->lock);
  return job_->doubt();
}

job_size embedded_ledger::size() const {
  const std::scoped_lock in_order(job_->lock);
  return {job_->counted.size(), job_->stored_bytes()};
}

}  // namespace everseen
