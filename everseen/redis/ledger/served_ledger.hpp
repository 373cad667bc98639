#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "everseen/redis/keyspace/filter_life.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/ledger/known_lane.hpp"
#include "everseen/redis/served/command_set.hpp"
#include "everseen/redis/served/partition_task.hpp"
#include "everseen/redis/transport/replica_wait.hpp"
#include "everseen/redis/transport/session.hpp"
#include "everseen/store/ledger.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

/// The ledger of a job over a filter that its servers judge: a record a lane and the counters beside each
/// partition, checkpoints on the first server.
///
/// The client keeps a copy of each record that it has read or written, and each call names the head of the
/// one that it expects. So a call that was answered into the void, and one that somebody else was faster
/// than, are the same thing: the record is read again, and says what became of the events. Events that the
/// record has judged are never sent.
class served_ledger final : public ledger {
 public:
  /// @param f   must outlive the ledger    @param by  the same filter, by which keys of replays are added; so
  /// must it
  served_ledger(std::shared_ptr<session_pool> pool, const filter_identity& f, gear_kind commands,
                stored_filter& by, std::string filter_name, std::string job, listed_job kept, bool may_claim);
  ~served_ledger() override;

  batch_result claim(const origin& from, std::span<const claim_batch> batches) override;
  bool settle(std::span<const checkpoint> reached) override;
  [[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints() const override;
  [[nodiscard]] const std::string& description() const noexcept override { return kept_.description; }
  void visit_counters(const counter_visitor& visit) const override;

 private:
  struct part;
  struct claiming;
  using picture = std::shared_ptr<const remote_partition>;

  [[nodiscard]] std::optional<batch_failure> claim_all(const origin& from,
                                                       std::span<const claim_batch> batches);
  [[nodiscard]] bool must_look(const part& p, const known_lane& in) const;
  void look(session& with, claiming& c);
  void take_look(part& p, known_lane& in, const answer& a) const;
  void complete(claiming& c);
  [[nodiscard]] std::vector<partition_task> tasks_for(claiming& c) const;
  void take_back(claiming& c, const std::vector<partition_task>& tasks);

  const std::shared_ptr<session_pool> pool_;
  const filter_identity& filter_;
  const gear_kind commands_;
  stored_filter& by_;
  const job_list jobs_;
  const std::string job_;
  const listed_job kept_;
  const job_keys keys_;
  const bool may_claim_;
  replica_wait replicas_;
  filter_life life_;
  known_lanes lanes_;
  std::mutex lock_;                // guards what follows
  std::vector<picture> pictures_;  // of each partition, as it was when it was looked at last
};

}  // namespace everseen::redis
