#pragma once

#include <memory>

#include "everseen/store/embedded/job_memory.hpp"

namespace everseen {

class embedded_filter;

/// The ledger of a job whose filter has its bits in this process. It has counters only if the job ends with
/// the process; only Redis keeps counters that outlive it.
///
/// Threads: claims of one job are serialised.
class embedded_ledger final : public ledger {
 public:
  embedded_ledger(embedded_filter& filter, std::shared_ptr<job_memory> job)
      : filter_(filter), job_(std::move(job)) {}

  batch_result claim(const origin& from, std::span<const claim_batch> batches) override;
  bool settle(std::span<const checkpoint> reached) override;
  [[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints() const override;
  [[nodiscard]] const std::string& description() const noexcept override { return job_->description; }
  [[nodiscard]] std::string doubt() const override;
  [[nodiscard]] job_size size() const override;
  void visit_counters(const counter_visitor& visit) const override;

 private:
  void count_fresh(const claim_batch& batch);

  embedded_filter& filter_;
  std::shared_ptr<job_memory> job_;
};

}  // namespace everseen
