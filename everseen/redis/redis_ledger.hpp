#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/lane_record.hpp"
#include "everseen/redis/generations.hpp"
#include "everseen/redis/partition_task.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/replica_wait.hpp"
#include "everseen/redis/session.hpp"
#include "everseen/store/ledger.hpp"

namespace everseen::redis {

/// The ledger of a job in Redis: a record a lane and the counters beside each partition, checkpoints on the
/// first server.
///
/// The client keeps a copy of each record that it has read or written, and each call names the head of the
/// one that it expects. So a call that was answered into the void, and one that somebody else was faster
/// than, are the same thing: the record is read again, and says what became of the events. Events that the
/// record has judged are never sent.
class redis_ledger final : public ledger {
 public:
  /// @param f  the generation that it is a job of, which stays
  /// @param kept  of the job, as open_job() returns it
  redis_ledger(std::shared_ptr<session_pool> pool, remote_filter f, gear_kind gear, std::string job,
               std::string kept, bool may_claim);
  ~redis_ledger() override;

  batch_result claim(const origin& from, std::span<const claim_batch> batches) override;
  bool settle(std::span<const checkpoint> reached) override;
  [[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints() const override;
  [[nodiscard]] const std::string& description() const noexcept override { return description_; }
  void visit_counters(const counter_visitor& visit) const override;

 private:
  struct lane;
  struct part;
  struct claiming;
  struct fresh_replays;
  using picture = std::shared_ptr<const remote_partition>;

  [[nodiscard]] std::optional<batch_failure> claim_all(const origin& from,
                                                       std::span<const claim_batch> batches);
  [[nodiscard]] lane& lane_of(std::string_view source);
  void look(session& with, claiming& c);
  void take_look(session& with, part& p, lane& in, const answer& a, bool& is_there);
  void complete(session& with, claiming& c);
  void resolve(part& p, const lane& in) const;
  [[nodiscard]] format_error forgotten(const std::string& state, const std::string& source) const;
  [[nodiscard]] batch_failure why_missing(session& with, const std::string& key) const;
  [[nodiscard]] std::vector<partition_task> tasks_for(claiming& c);
  void take_back(session& with, claiming& c, const std::vector<partition_task>& tasks);

  std::shared_ptr<session_pool> pool_;
  const remote_filter filter_;
  const gear_kind gear_;
  const std::string job_;
  const std::string kept_;
  const std::string description_;
  const bool may_claim_;
  replica_wait replicas_;
  generations generations_;  // by which the keys of replays are added
  std::mutex lock_;          // guards what follows, but not what a lane holds: that is its one claimer's
  std::map<std::string, std::unique_ptr<lane>, std::less<>> lanes_;
  std::vector<picture> pictures_;  // of each partition, as it was when it was looked at last
};

}  // namespace everseen::redis
