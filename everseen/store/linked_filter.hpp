#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/digest.hpp"
#include "everseen/store/store.hpp"
#include "everseen/store/time_source.hpp"

namespace everseen {

/// A filter that is to replace an older one, and asks that one too: a key that either has is `seen`, and what
/// is added goes to the newer one alone. After some time that knows all that is still in use, and the older
/// one may go.
///
/// The two may differ in everything: hash, seed, partitions, layout; the older one may be another program's.
/// So keys are hashed for each. The older one is asked first: where it does not answer, nothing is added, and
/// the batch may be sent again. What a program adds to the older one between the two steps is seen the next
/// time.
class linked_filter final : public stored_filter {
 public:
  /// @param name   of the newer one, for messages
  /// @param who    the older one, whose filter is `asked`
  /// @param now    by which the link ends: asked once a batch, if it ends at all
  linked_filter(std::string name, std::shared_ptr<stored_filter> newer, predecessor who,
                std::shared_ptr<stored_filter> asked, time_source now);

  [[nodiscard]] const spec& get_spec() const noexcept override { return newer_->get_spec(); }
  [[nodiscard]] bool wants_keys() const noexcept override { return true; }
  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  /// This and what follows is about the newer one.
  [[nodiscard]] partition_state state(std::uint32_t partition) const override {
    return newer_->state(partition);
  }
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override {
    newer_->visit_segments(partition, visit);
  }
  void sync() override { newer_->sync(); }
  [[nodiscard]] std::string place_of(std::uint32_t partition) const override {
    return newer_->place_of(partition);
  }
  [[nodiscard]] std::optional<event_time> ends_at() const override { return newer_->ends_at(); }
  void end_at(std::optional<event_time> when) override { newer_->end_at(when); }
  void wait_with(std::shared_ptr<patience> p) override;
  [[nodiscard]] std::string way() const override { return newer_->way(); }
  [[nodiscard]] bool is_called(std::string_view name) const override { return newer_->is_called(name); }
  [[nodiscard]] std::optional<predecessor> asks_first() const override;
  /// @throws parameter_error  always: a job needs a filter that judges alone
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::string_view description) override;
  /// The one that is asked first, though its time may be over.
  [[nodiscard]] const stored_filter& older() const noexcept { return *older_; }

 private:
  struct question;
  [[nodiscard]] bool is_over() const { return who_.until && who_.is_over(now_()); }
  [[nodiscard]] std::optional<batch_failure> ask_older(question& q) const;
  template <typename Judge>
  batch_result judge(std::span<const partition_batch> batches, Judge by_newer) const;

  std::string name_;
  std::shared_ptr<stored_filter> newer_;
  predecessor who_;
  std::shared_ptr<stored_filter> older_;
  time_source now_;
  hasher hash_of_older_;
};

}  // namespace everseen
