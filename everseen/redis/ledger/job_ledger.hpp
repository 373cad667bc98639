#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/lane_record.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen::redis {

class mirror_set;

/// A client's copy of the records of a lane. Used only by the thread that claims the lane's events.
struct known_lane {
  std::string name;
  std::vector<std::optional<lane_record>> records{};  ///< by partition; nothing: it must be read
  /// For each partition, the head of the record when the server last answered.
  std::vector<std::string> answered{};
};

/// The ledger of a job over a filter on servers: the parts common to both judges. Threads: as ledger.
class job_ledger : public ledger {
 public:
  batch_result claim(const lane_progress& from, std::span<const claim_batch> batches) final;
  bool settle(std::span<const checkpoint> reached) final;
  [[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints() const final;
  [[nodiscard]] const std::string& description() const noexcept final { return kept_.description; }
  [[nodiscard]] job_size size() const final { return jobs_.size(*pool_->take(), job_); }
  void visit_counters(const counter_visitor& visit) const final;

 protected:
  /// @param f  must outlive the ledger
  job_ledger(std::shared_ptr<connection_pool> pool, const filter_identity& f, std::string filter_name,
             std::string job, listed_job kept, bool may_claim);

  /// @return the first failure; one that ends a batch takes precedence over a full filter    @throws error
  [[nodiscard]] virtual std::optional<batch_failure> claim_all(server_connections& connections,
                                                               known_lane& in, const lane_progress& from,
                                                               std::span<const claim_batch> batches) = 0;

  [[nodiscard]] const connection_pool& pool() const noexcept { return *pool_; }
  [[nodiscard]] const filter_identity& filter() const noexcept { return filter_; }
  [[nodiscard]] const job_keys& keys() const noexcept { return keys_; }
  [[nodiscard]] storage_error is_gone() const { return jobs_.is_gone(job_); }
  /// The request for the record of a lane. If batches wait for replicas, so does its answer.
  [[nodiscard]] request request_for_record(const known_lane& in, std::uint32_t partition) const;
  /// Takes the record of a lane from its server.
  /// @param looks  how often the claim has read it
  /// @throws format_error   it is damaged, or the server has less of it than it acknowledged
  /// @throws storage_error  the job has ended    @throws backend_error
  void take_record(server_connections& connections, known_lane& in, std::uint32_t partition,
                   std::string_view record, int& looks) const;

 private:
  [[nodiscard]] known_lane& lane_of(std::string_view lane);

  const std::shared_ptr<connection_pool> pool_;
  const filter_identity& filter_;
  const job_list jobs_;
  const std::string job_;
  const listed_job kept_;
  const job_keys keys_;
  const bool may_claim_;
  std::mutex lock_;  // guards what follows
  std::map<std::string, std::unique_ptr<known_lane>, std::less<>> lanes_{};
};

/// The ledger of a job over a filter that its clients judge.    @param mirrors  must outlive the ledger
[[nodiscard]] std::unique_ptr<ledger> open_journal_ledger(std::shared_ptr<connection_pool> pool,
                                                          mirror_set& mirrors, std::string filter_name,
                                                          std::string job, listed_job kept, bool may_claim);
/// The ledger of a job over a filter that its servers judge.    @param f  must outlive the ledger
[[nodiscard]] std::unique_ptr<ledger> open_served_ledger(std::shared_ptr<connection_pool> pool,
                                                         const filter_identity& f, std::string filter_name,
                                                         std::string job, listed_job kept, bool may_claim);

/// The keys of those events of a batch that its record already calls fresh.
///
/// They are added again, which changes nothing if they exist: a server that was killed while writing may have
/// kept the record but not the keys.
struct fresh_replays {
  fresh_replays(const claim_batch& batch, const lane_record& record);

  std::vector<digest> digests{};
  std::vector<event_time> times{};  ///< one a digest, where there is a window
};

/// Answers the events that were judged before from the record, and leaves the others in `left`. Since
/// positions ascend, the judged ones come first.
/// @param slices  of the partition, read together with the record or later
/// @param is_ours  an answer to this very claim was lost, so it may have judged them itself
void answer_those_judged(claim_batch& left, const lane_record& record, const spec& s,
                         std::span<const slice_state> slices, bool is_ours);

}  // namespace everseen::redis
