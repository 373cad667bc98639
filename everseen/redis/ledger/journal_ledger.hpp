#pragma once

#include <memory>
#include <optional>
#include <string>

#include "everseen/redis/journal/mirror_set.hpp"
#include "everseen/redis/ledger/job_ledger.hpp"

namespace everseen::redis {

/// The ledger of a job over a filter that its clients judge.
///
/// A claim is an append that also extends the record of its lane and increments counters, in one step of the
/// server. The client names the head of the record. If the server has another head, a client has judged
/// events of the lane before, perhaps in this very claim, whose answer was lost; the record shows which were
/// fresh.
class journal_ledger final : public job_ledger {
 public:
  /// @param mirrors  must outlive the ledger
  journal_ledger(std::shared_ptr<connection_pool> pool, mirror_set& mirrors, std::string filter_name,
                 std::string job, listed_job kept, bool may_claim);

 private:
  class claiming;

  std::optional<batch_failure> claim_all(server_connections& connections, known_lane& in, const origin& from,
                                         std::span<const claim_batch> batches) override;

  mirror_set& mirrors_;
};

}  // namespace everseen::redis
