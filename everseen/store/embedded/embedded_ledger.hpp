#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/lane_record.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen {

/// The state of one job of a filter in this process. It is lost with the process, unless note_*() stores it.
struct job_memory {
  using lanes = std::map<std::string, std::vector<lane_record>, std::less<>>;
  using checkpoints = std::map<std::string, checkpoint, std::less<>>;
  using counters = std::map<std::string, std::int64_t, std::less<>>;

  /// Events that a partition is about to apply: those after the last one in its record.
  struct step {
    std::uint32_t partition = 0;
    std::string_view lane;
    std::uint64_t settled = 0;
    std::span<const std::uint64_t> positions;
    std::span<const verdict> verdicts;    ///< one per position; none is `unknown`
    std::span<const digest> digests{};    ///< likewise
    std::span<const event_time> times{};  ///< as in partition_batch
  };

  explicit job_memory(std::string subject) : description(std::move(subject)) {}
  virtual ~job_memory() = default;

  /// Stores a step before it is applied. If this fails, the step is not applied.    @throws storage_error
  virtual void note_step(const step& /*s*/) {}
  virtual void note_checkpoints(std::span<const checkpoint> /*reached*/) {}
  /// Removes everything stored; nothing can be stored after that.    @throws storage_error
  virtual void remove_stored() {}
  /// Syncs everything stored.    @pre the caller does not hold `lock`    @throws storage_error
  virtual void sync() {}
  /// As ledger::doubt.
  [[nodiscard]] virtual std::string doubt() const { return {}; }
  /// Whether it has counters. A stored job has none, since they would not be updated in one step with the
  /// keys.
  [[nodiscard]] virtual bool has_counters() const noexcept { return true; }
  /// Size of what is stored.
  [[nodiscard]] virtual std::optional<std::uint64_t> stored_bytes() const { return {}; }

  /// The records of a lane, one per partition.
  std::vector<lane_record>& lane(std::string_view name, std::uint32_t partitions) {
    auto found = records.find(name);
    if (found == records.end()) found = records.emplace(std::string(name), lanes::mapped_type{}).first;
    found->second.resize(std::max<std::size_t>(found->second.size(), partitions));
    return found->second;
  }

  std::mutex lock;  ///< held during a claim, so steps are stored in order; guards what follows
  const std::string description;
  lanes records{};
  checkpoints reached{};
  counters counted{};
};

/// Updates a record with a step.
inline void take_step(lane_record& record, const job_memory::step& s) {
  record.forget(s.settled);
  for (std::size_t i = 0; i < s.positions.size(); ++i)
    record.note(s.positions[i], s.verdicts[i] == verdict::fresh);
}

class embedded_filter;

/// The ledger of a job whose filter has its bits in this process. It has counters only if the job ends with
/// the process; only Redis keeps counters that outlive it.
///
/// Threads: claims of one job are serialised.
class embedded_ledger final : public ledger {
 public:
  embedded_ledger(embedded_filter& filter, std::shared_ptr<job_memory> job)
      : filter_(filter), job_(std::move(job)) {}

  batch_result claim(const lane_progress& from, std::span<const claim_batch> batches) override;
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
