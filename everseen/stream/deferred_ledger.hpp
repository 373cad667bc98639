#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "everseen/store/store.hpp"

namespace everseen {

/// The ledger of a job that is made with its first claim or settlement.
///
/// A run that takes nothing, as its very first record is no event, leaves nothing behind: the next one may be
/// told otherwise what a key is. Threads: one at a time.
class deferred_ledger final : public ledger {
 public:
  /// Looks at what the job was begun with; throws where that is not what is wanted.
  using examination = std::function<void(const std::string& begun_with)>;

  /// @param of       outlives this
  /// @param examine  called where the job is there: here, or, if it is begun later, with its first claim
  /// @throws  as stored_filter::open_ledger, and examine
  deferred_ledger(stored_filter& of, std::string job, std::string description, examination examine);

  batch_result claim(const origin& from, std::span<const claim_batch> batches) override;
  bool settle(std::span<const checkpoint> reached) override;
  [[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints() const override;
  /// Until the job is begun, what it is to be begun with.
  [[nodiscard]] const std::string& description() const noexcept override {
    return real_ ? real_->description() : description_;
  }
  [[nodiscard]] std::string doubt() const override;
  void visit_counters(const counter_visitor& visit) const override;

 private:
  void begin() const;
  [[nodiscard]] bool is_begun() const;

  stored_filter& of_;
  std::string job_;
  std::string description_;
  examination examine_;
  mutable std::unique_ptr<ledger> real_;  // null: nobody has begun it, as far as is known
};

}  // namespace everseen
