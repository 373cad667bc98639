#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace everseen::server {

/// Lets commands in beside each other, and a transaction alone.
///
/// Nobody waits on a thread: who cannot come in is called when he can, in the order of arrival, so that
/// neither a stream of commands nor one of transactions keeps the others out. Who is in may stay while he
/// waits for the store; a transaction that wants in then waits for him, and whoever comes later for it.
///
/// Where memory runs out the process ends, as nobody could come in any more who was not counted to its end.
/// Threads: any number. Cost to come in and go where no transaction is about: two atomic additions to a cache
/// line that is this thread's own.
class exec_gate {
 public:
  using go = std::function<void()>;  ///< must not throw; called on any thread, without a lock
  struct alignas(64) lane {
    std::atomic<std::int64_t> inside = 0;
  };

  /// Where this thread counts who is in.
  [[nodiscard]] lane& lane_of_this_thread() noexcept;

  /// @param who  for withdraw()
  /// @return true  he is in; false  `when_in` is called as soon as he is
  [[nodiscard]] bool enter(lane& in, const void* who, go when_in) noexcept;
  /// @param in  the one that was entered by    @pre he is in
  void leave(lane& in) noexcept;

  /// @param when_in  called when nobody else is in, maybe at once
  void enter_alone(const void* who, go when_in) noexcept;
  void leave_alone() noexcept;

  /// Who waits is not called any more. He may be being called at this moment.
  void withdraw(const void* who);

  /// From now on everybody comes in at once, and who waits does now: the server ends.
  void open_for_good();

 private:
  struct waiting {
    lane* in;  // null: alone
    const void* who;
    go when_in;
  };
  [[nodiscard]] bool is_empty() const noexcept;
  void let_in();

  std::array<lane, 64> lanes_{};
  std::atomic<bool> is_closed_ = false;  // a transaction is in, or waits
  std::mutex lock_{};
  std::deque<waiting> waiting_{};
  bool is_alone_ = false;
  bool is_for_good_ = false;
};

}  // namespace everseen::server
