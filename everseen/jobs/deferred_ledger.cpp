#include "everseen/jobs/deferred_ledger.hpp"

#include <utility>

#include "everseen/store/port/batch_results.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen {

deferred_ledger::deferred_ledger(stored_filter& filter, std::string job, std::string description,
                                 examination examine)
    : filter_(filter),
      job_(std::move(job)),
      description_(std::move(description)),
      examine_(std::move(examine)) {
  validate_job_name(job_);
  static_cast<void>(is_begun());
}

bool deferred_ledger::begin(std::optional<std::string_view> description) const {
  if (real_) return true;
  auto opened = filter_.open_ledger(job_, description);
  if (!opened) return false;
  examine_(opened->description());
  real_ = std::move(opened);
  return true;
}

/// Another worker of the job may have begun it in the meantime.
bool deferred_ledger::is_begun() const {
  return begin(std::nullopt);
}

batch_result deferred_ledger::claim(const lane_progress& from, std::span<const claim_batch> batches) {
  try {
    (void)begin(description_);
  } catch (const error&) {
    forget_verdicts(batches);
    return claims_result(batches, batch_failure::from_current_exception());
  }
  return real_->claim(from, batches);
}

bool deferred_ledger::settle(std::span<const checkpoint> reached) {
  if (reached.empty()) return true;
  (void)begin(description_);
  return real_->settle(reached);
}

std::map<std::string, checkpoint, std::less<>> deferred_ledger::checkpoints() const {
  if (!is_begun()) return {};
  return real_->checkpoints();
}

std::string deferred_ledger::doubt() const {
  return is_begun() ? real_->doubt() : std::string();
}

job_size deferred_ledger::size() const {
  return is_begun() ? real_->size() : job_size{};
}

void deferred_ledger::visit_counters(const counter_visitor& visit) const {
  if (is_begun()) real_->visit_counters(visit);
}

}  // namespace everseen
