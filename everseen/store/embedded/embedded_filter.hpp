#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/store/embedded/embedded_ledger.hpp"
#include "everseen/store/port/stored_filter.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen {

/// The expiry time of a filter of this machine, which may change while the filter is in use.
///
/// A filter without one reads no clock.    Threads: any number may call any function.
class lifetime {
 public:
  /// @param clock  null: expiry is enforced elsewhere
  explicit lifetime(time_source clock, std::optional<event_time> end = {}) : clock_(std::move(clock)) {
    set(end);
  }

  [[nodiscard]] bool has_expired() const {
    const std::int64_t end = expires_at_ms_.load(std::memory_order_relaxed);
    return end != never && clock_ && clock_().time_since_epoch().count() >= end;
  }
  [[nodiscard]] std::optional<event_time> expires_at() const noexcept {
    const std::int64_t end = expires_at_ms_.load(std::memory_order_relaxed);
    if (end == never) return std::nullopt;
    return event_time(std::chrono::milliseconds(end));
  }
  void set(std::optional<event_time> end) noexcept {
    expires_at_ms_.store(end ? end->time_since_epoch().count() : never, std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  const time_source clock_;
  std::atomic<std::int64_t> expires_at_ms_{never};
};

/// A filter whose bits are addressable in this process: the common part of the memory and file stores.
///
/// One lock per partition: adds hold it exclusively, look-ups share it. A batch of adds visits unlocked
/// partitions first, so that threads do not queue behind each other.
class embedded_filter : public stored_filter {
 public:
  /// @param states  one per partition, with all their segments in `place`
  /// @param clock     the clock for expiry; after that every batch fails
  embedded_filter(const spec& s, segments& place, std::vector<partition_state> states,
                  time_source clock = nullptr, std::optional<event_time> end = {});

  [[nodiscard]] const spec& get_spec() const noexcept override { return spec_; }
  batch_result add(std::span<const partition_batch> batches) override;
  [[nodiscard]] bool adds_after_effects() const noexcept override { return true; }
  batch_result add_after(std::span<const partition_batch> batches,
                         const std::function<bool()>& effect) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  void must_fit(const sibling_source& siblings) const override;
  void merge(const sibling_source& siblings) override;
  void ask_for_room(segment_room* room) override { segments_.ask(room); }
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::optional<std::string_view> description) override;

  /// For the store of this filter; as filter_admin.
  [[nodiscard]] std::optional<event_time> expires_at() const { return life_.expires_at(); }
  void expire_at(std::optional<event_time> when);
  [[nodiscard]] bool has_expired() const { return life_.has_expired(); }
  [[nodiscard]] std::vector<std::string> jobs() const;
  /// @pre no ledger of this job is in use    @return whether there was such a job
  bool end_job(std::string_view job);

  /// One step per partition: predicts the verdicts, records them, and adds the keys.
  /// @pre the job's lock is held    @return as ledger::claim
  virtual batch_result claim(job_memory& job, const lane_progress& from,
                             std::span<const claim_batch> batches);

  /// Removes every key, partition by partition.
  void forget();

 protected:
  /// Adds a job from an earlier process.    @pre the filter is not in use yet
  void adopt_job(std::string name, std::shared_ptr<job_memory> job);
  /// Creates the memory of a job that this process opens for the first time.
  [[nodiscard]] virtual std::shared_ptr<job_memory> make_job(std::string_view name,
                                                             std::string_view description);
  /// Removes the name of a job from what the next process finds; its data is removed next.
  virtual void forget_job(std::string_view /*name*/) {}
  /// Syncs the records of all jobs, even after a failure.    @throws storage_error  the first failure
  void sync_jobs();
  /// Stores the expiry time for the next process, before it takes effect.
  virtual void keep_expiry(std::optional<event_time> /*when*/) {}

 private:
  std::optional<batch_failure> claim_in(partition& logic, job_memory& job, const lane_progress& from,
                                        claim_batch batch);
  static std::optional<batch_failure> record_step(job_memory& job, lane_record& record,
                                                  const lane_progress& from, const claim_batch& batch,
                                                  std::size_t events);
  /// For keys of fresh events. A replay was judged before, and its verdict holds although a crash may have
  /// taken its key from a filter that is full now.
  enum class space : std::uint8_t { is_known, may_lack };
  std::optional<batch_failure> apply_claim(partition& logic, const claim_batch& batch, std::size_t events,
                                           space left);
  std::optional<batch_failure> add_fresh(partition& logic, const claim_batch& batch, std::size_t events,
                                         space left);

  /// The segments of the store. Room is asked for before one is made, by a batch or a job.
  class limited_segments final : public segments {
   public:
    explicit limited_segments(segments& place) : place_(place) {}
    void ask(segment_room* room) noexcept { room_ = room; }

    [[nodiscard]] std::byte* at(const segment_id& id) const noexcept override { return place_.at(id); }
    void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override;
    void drop_before(std::uint32_t partition, window::slice_index oldest) override {
      place_.drop_before(partition, oldest);
    }
    void expect_keys(const segment_id& id, std::uint64_t keys) noexcept override {
      place_.expect_keys(id, keys);
    }
    void note_keys(const segment_id& id, std::uint64_t keys) noexcept override { place_.note_keys(id, keys); }

   private:
    segments& place_;
    std::atomic<segment_room*> room_ = nullptr;
  };

  struct alignas(64) guarded {  // one cache line each: neighbouring locks must not share one
    mutable std::shared_mutex lock;
    partition logic;
    guarded(const spec& s, std::uint32_t number, segments& place, partition_state state)
        : logic(s, number, place, std::move(state)) {}
  };

  const spec spec_;
  limited_segments segments_;
  lifetime life_;
  std::vector<std::unique_ptr<guarded>> partitions_;
  mutable std::mutex jobs_lock_;  // guards the following members
  std::map<std::string, std::shared_ptr<job_memory>, std::less<>> jobs_{};
};

}  // namespace everseen
