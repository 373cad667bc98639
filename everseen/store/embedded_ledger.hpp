#pragma once

#include <memory>

#include "everseen/store/job_memory.hpp"

namespace everseen {

class embedded_filter;

/// The ledger of a job of a filter whose bits are in this process. It counts nothing: counters are kept by
/// Redis.
///
/// Threads: claims of one job take turns.
class embedded_ledger final : public ledger {
 public:
  embedded_ledger(embedded_filter& of, std::shared_ptr<job_memory> job) : filter_(of), job_(std::move(job)) {}

  batch_result claim(const origin& from, std::span<const claim_batch> batches) override;
  bool settle(std::span<const checkpoint> reached) override;
  [[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints() const override;
  [[nodiscard]] const std::string& description() const noexcept override { return job_->description; }
  [[nodiscard]] std::string doubt() const override;
  /// There are none.
  void visit_counters(const counter_visitor& /*visit*/) const override {}

 private:
  embedded_filter& filter_;
  std::shared_ptr<job_memory> job_;
};

}  // namespace everseen
