#pragma once

#include <map>
#include <memory>
#include <string>

#include "everseen/redis/journal/mirror_set.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/ledger/known_lane.hpp"
#include "everseen/store/ledger.hpp"

namespace everseen::redis {

/// The ledger of a job over a filter that its clients judge.
///
/// A claim is an append that also goes on with the record of its lane and raises counters, in one step of the
/// server. The client says which head the record has; where it has another one, somebody has judged events of
/// the lane before, perhaps this very claim whose answer was lost, and the record says what became of them.
class journal_ledger final : public ledger {
 public:
  /// @param mirrors  must outlive the ledger
  journal_ledger(std::shared_ptr<session_pool> pool, mirror_set& mirrors, std::string filter_name,
                 std::string job, listed_job kept, bool may_claim);
  ~journal_ledger() override;

  batch_result claim(const origin& from, std::span<const claim_batch> batches) override;
  bool settle(std::span<const checkpoint> reached) override;
  [[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints() const override;
  [[nodiscard]] const std::string& description() const noexcept override { return kept_.description; }
  void visit_counters(const counter_visitor& visit) const override;

 private:
  class claiming;

  std::shared_ptr<session_pool> pool_;
  mirror_set& mirrors_;
  const job_list jobs_;
  const std::string job_;
  const listed_job kept_;
  const job_keys keys_;
  const bool may_claim_;
  known_lanes lanes_;
};

}  // namespace everseen::redis
