#include "everseen/stream/job/deferred_ledger.hpp"

#include <algorithm>
#include <utility>

#include "everseen/store/port/claims.hpp"

namespace everseen {

deferred_ledger::deferred_ledger(stored_filter& of, std::string job, std::string description,
                                 examination examine)
    : of_(of), job_(std::move(job)), description_(std::move(description)), examine_(std::move(examine)) {
  validate_job_name(job_);
  static_cast<void>(is_begun());
}

void deferred_ledger::begin() const {
  if (real_) return;
  auto opened = of_.open_ledger(job_, description_);
  examine_(opened->description());
  real_ = std::move(opened);
}

/// Another worker of the job may have begun it in the meantime.
bool deferred_ledger::is_begun() const {
  if (real_) return true;
  const auto there = of_.jobs();
  if (std::ranges::find(there, job_) == there.end()) return false;
  begin();
  return true;
}

batch_result deferred_ledger::claim(const origin& from, std::span<const claim_batch> batches) {
  try {
    begin();
  } catch (const error&) {
    forget_verdicts(batches);
    return claims_result(batches, batch_failure::from_current_exception());
  }
  return real_->claim(from, batches);
}

bool deferred_ledger::settle(std::span<const checkpoint> reached) {
  if (reached.empty()) return true;
  begin();
  return real_->settle(reached);
}

std::map<std::string, checkpoint, std::less<>> deferred_ledger::checkpoints() const {
  if (!is_begun()) return {};
  return real_->checkpoints();
}

std::string deferred_ledger::doubt() const {
  return is_begun() ? real_->doubt() : std::string();
}

void deferred_ledger::visit_counters(const counter_visitor& visit) const {
  if (is_begun()) real_->visit_counters(visit);
}

}  // namespace everseen
