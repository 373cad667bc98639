#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/store/port/stored_filter.hpp"

namespace everseen {

/// The ledger of a job that is created by its first claim or settlement.
///
/// A run that claims nothing, because its first record is not an event, leaves nothing behind. The next run
/// may then define keys differently. Threads: one at a time.
class deferred_ledger final : public ledger {
 public:
  /// Checks what the job was begun with; throws if that differs from what is wanted.
  using examination = std::function<void(const std::string& begun_with)>;

  /// @param filter   outlives this
  /// @param examine  called if the job exists: here, or, if another worker begins it later, with its first
  ///         claim
  /// @throws  as stored_filter::open_ledger, and examine
  deferred_ledger(stored_filter& filter, std::string job, std::string description, examination examine);

  batch_result claim(const lane_progress& from, std::span<const claim_batch> batches) override;
  bool settle(std::span<const checkpoint> reached) override;
  [[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints() const override;
  /// Before the job begins, the description that it will begin with.
  [[nodiscard]] const std::string& description() const noexcept override {
    return real_ ? real_->description() : description_;
  }
  [[nodiscard]] std::string doubt() const override;
  [[nodiscard]] job_size size() const override;
  void visit_counters(const counter_visitor& visit) const override;

 private:
  /// @return false  without a description: the job does not exist
  bool begin(std::optional<std::string_view> description) const;
  [[nodiscard]] bool is_begun() const;

  stored_filter& filter_;
  std::string job_;
  std::string description_;
  examination examine_;
  mutable std::unique_ptr<ledger> real_;  // null: the job has not begun, as far as is known
};

}  // namespace everseen
