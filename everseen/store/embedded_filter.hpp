#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/partition.hpp"
#include "everseen/store/job_memory.hpp"
#include "everseen/store/lifetime.hpp"
#include "everseen/store/store.hpp"

namespace everseen {

/// A filter whose bits this process can address: the common part of the memory and the file store.
///
/// One lock a partition: adds take it alone, look-ups share it. A batch that adds visits those partitions
/// first that nobody else is in, so that threads do not queue behind each other.
class embedded_filter : public stored_filter {
 public:
  /// @param states  one a partition, all with their segments in `place`
  /// @param now     by which it ends; from then on every batch fails
  embedded_filter(const spec& s, segments& place, std::vector<partition_state> states,
                  time_source now = nullptr, std::optional<event_time> end = {});

  [[nodiscard]] const spec& get_spec() const noexcept override { return spec_; }
  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  [[nodiscard]] std::optional<event_time> ends_at() const override { return life_.end(); }
  void end_at(std::optional<event_time> when) override;
  [[nodiscard]] bool has_ended() const { return life_.is_over(); }

  std::unique_ptr<ledger> open_ledger(std::string_view job, std::string_view description) override;
  [[nodiscard]] std::vector<std::string> jobs() const override;
  [[nodiscard]] job_size size_of_job(std::string_view job) const override;
  /// @pre nobody uses a ledger of this job any more
  void end_job(std::string_view job) override;
  /// One step of each partition: predicts the verdicts, has them put down, and adds the keys.
  /// @pre the job's lock is held    @return as ledger::claim
  virtual batch_result claim(job_memory& job, const origin& from, std::span<const claim_batch> batches);

  /// Forgets every key, partition by partition.
  void forget();

 protected:
  /// Takes a job in that is known from before.    @pre nobody else uses the filter yet
  void keep_job(std::string name, std::shared_ptr<job_memory> job);
  /// The memory of a job that is opened for the first time by this process.
  [[nodiscard]] virtual std::shared_ptr<job_memory> make_job(std::string_view name,
                                                             std::string_view description);
  /// Takes the name of a job from what the next process finds; what is kept of it goes next.
  virtual void forget_job(std::string_view /*name*/) {}
  /// Brings what jobs have put down to the disk, of all that can.    @throws storage_error  of the first
  void sync_jobs();
  /// Puts the end down where the next process finds it, before it counts.
  virtual void keep_end(std::optional<event_time> /*when*/) {}

 private:
  std::optional<batch_failure> claim_in(partition& logic, job_memory& job, const origin& from,
                                        claim_batch batch);
  static std::optional<batch_failure> put_down(job_memory& job, lane_record& record, const origin& from,
                                               const claim_batch& batch, std::size_t events);
  std::optional<batch_failure> keep(partition& logic, const claim_batch& of, std::size_t events);
  std::optional<batch_failure> add_fresh(partition& logic, const claim_batch& of, std::size_t events);

  struct alignas(64) guarded {  // a line each: neighbours' locks must not share one
    mutable std::shared_mutex lock;
    partition logic;
    guarded(const spec& s, std::uint32_t number, segments& place, partition_state state)
        : logic(s, number, place, std::move(state)) {}
  };

  const spec spec_;
  segments& place_;
  lifetime life_;
  std::vector<std::unique_ptr<guarded>> partitions_;
  mutable std::mutex jobs_lock_;  // guards what follows
  std::map<std::string, std::shared_ptr<job_memory>, std::less<>> jobs_{};
};

}  // namespace everseen
