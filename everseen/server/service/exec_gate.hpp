#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace everseen::server {

/// Runs commands concurrently, and a transaction alone.
///
/// No thread waits: a caller that cannot enter is called back when it can, in order of arrival, so that
/// neither commands nor transactions starve the others. A caller may stay inside while it waits for the
/// store; a transaction then waits for it, and later callers wait for the transaction.
///
/// If memory runs out, the process ends: an entry that is not counted correctly would block all others.
/// Threads: any number. Cost to enter and leave without transactions: two atomic additions to a cache line
/// of this thread.
class exec_gate {
 public:
  using go = std::function<void()>;  ///< must not throw; called on any thread, without a lock
  struct alignas(64) counter {
    std::atomic<std::int64_t> inside = 0;
  };

  /// The counter of this thread.
  [[nodiscard]] counter& counter_of_this_thread() noexcept;

  /// @param who  for withdraw()
  /// @return true  entered; false  `when_in` is called after entering
  [[nodiscard]] bool enter(counter& in, const void* who, go when_in) noexcept;
  /// @param in  the counter that was used to enter    @pre the caller has entered
  void leave(counter& in) noexcept;

  /// @param when_in  called when no other caller is inside, possibly immediately
  void enter_alone(const void* who, go when_in) noexcept;
  void leave_alone() noexcept;

  /// A waiting caller is not called back any more. The call may be running at this moment.
  void withdraw(const void* who);

  /// From now on every caller enters immediately, including those that wait: the server ends.
  void open_for_good();

 private:
  struct waiting {
    counter* in;  // null: alone
    const void* who;
    go when_in;
  };
  [[nodiscard]] bool is_empty() const noexcept;
  void let_in();

  std::array<counter, 64> counters_{};
  std::atomic<bool> is_closed_ = false;  // a transaction is inside, or waits
  std::mutex lock_{};
  std::deque<waiting> waiting_{};
  bool is_alone_ = false;
  bool is_for_good_ = false;
};

}  // namespace everseen::server
