#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/ledger/job_ledger.hpp"

namespace everseen::redis {

/// The ledger of a job over a filter that its servers judge: beside each partition, a hash with a record per
/// lane and the counters; the checkpoints are on the first server.
///
/// The client keeps a copy of each record that it has read or written, and each call names the head of the
/// expected one. A call whose answer was lost and a call that came after another client's are therefore
/// handled alike: the record is read again and shows what became of the events. Events that the record has
/// judged are never sent: a call writes the record and adds the keys in one step, which replicas and an AOF
/// get as one command.
class served_ledger final : public job_ledger {
 public:
  /// @param f  must outlive the ledger
  served_ledger(std::shared_ptr<connection_pool> pool, const filter_identity& f, std::string filter_name,
                std::string job, listed_job kept, bool may_claim);

 private:
  class claim_task;

  std::optional<batch_failure> claim_all(server_connections& connections, known_lane& in, const origin& from,
                                         std::span<const claim_batch> batches) override;

  filter_life life_;
};

}  // namespace everseen::redis
