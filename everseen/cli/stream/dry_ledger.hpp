#pragma once

#include <map>
#include <string>

#include "everseen/store/port/ledger.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::cli {

/// The ledger of a dry run: judges by a filter in memory, counts here, and remembers nothing, since a dry
/// run is never resumed. Threads: one at a time.
class dry_ledger final : public ledger {
 public:
  dry_ledger(std::shared_ptr<stored_filter> filter, std::string description)
      : filter_(std::move(filter)), description_(std::move(description)) {}

  batch_result claim(const origin& from, std::span<const claim_batch> batches) override;
  bool settle(std::span<const checkpoint> /*reached*/) override { return true; }
  [[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints() const override { return {}; }
  [[nodiscard]] const std::string& description() const noexcept override { return description_; }
  void visit_counters(const counter_visitor& visit) const override;

 private:
  std::shared_ptr<stored_filter> filter_;
  std::string description_;
  std::map<std::string, std::int64_t, std::less<>> counters_;
};

}  // namespace everseen::cli
