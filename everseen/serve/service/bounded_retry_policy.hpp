#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "everseen/store/port/retry_policy.hpp"

namespace everseen::serve {

/// Waits through outages on a limited number of threads, and not at all once the server ends, so that other
/// threads stay free for filters that respond.
///
/// Work waits for as long as the store would, if few enough threads wait already; for the others the first
/// failed attempt is the outcome, and nobody knows whether it ran. Work whose outcome must become known takes
/// a place before it begins, and then waits for as long as the outage lasts. If an outage has taken all
/// places, it does not begin. Threads: any number.
class bounded_retry_policy final : public retry_policy {
 public:
  struct limits {
    unsigned waiting = 1;  ///< threads without a place that may wait for an unavailable store
    unsigned places = 1;
  };
  /// @param ends  whether no thread may wait any longer
  bounded_retry_policy(limits l, std::function<bool()> ends) : limits_(l), ends_(std::move(ends)) {}

  bool tries_again(const outage& trouble) override;
  void on_silence(const std::string& why) override;
  void on_recovered() override;
  [[nodiscard]] bool may_take_hours() const noexcept override { return true; }  // with a place

  /// The right of this thread to wait until its work has an outcome.
  class place {
   public:
    place(place&& other) noexcept : policy_(std::exchange(other.policy_, nullptr)) {}
    place& operator=(place&&) = delete;
    ~place() {
      if (policy_ != nullptr) policy_->give_back();
    }

   private:
    friend bounded_retry_policy;
    explicit place(bounded_retry_policy& policy) : policy_(&policy) {}
    bounded_retry_policy* policy_;
  };
  /// A place; waits for one while those that have the places get their answers.    @pre the thread has none
  /// @return nothing  the store is unavailable, and all places wait for it; see why()
  [[nodiscard]] std::optional<place> take_place();
  /// Why the store was unavailable, when it last was for work with a place.
  [[nodiscard]] std::string why() const;

  /// Called by a thread when its work is done, successful or not.
  void leave() noexcept;
  [[nodiscard]] unsigned waiting() const;

 private:
  bool enter();
  void give_back() noexcept;
  void note_trouble(const std::string& why);

  const limits limits_;
  const std::function<bool()> ends_;
  mutable std::mutex lock_{};          // guards the members below
  std::condition_variable changed_{};  // a place became free, or its work got into trouble
  unsigned waiting_ = 0;               // threads without a place
  unsigned taken_ = 0;                 // places
  unsigned troubled_ = 0;              // places whose work gets no answer
  std::string why_{};
};

}  // namespace everseen::serve
