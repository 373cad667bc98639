#pragma once

#include <chrono>
#include <string>

namespace everseen {

/// Decides for how long calls to a store that is away are made again.
///
/// A store that other machines keep has a limit of its own, after which a call fails. Whoever would rather
/// wait longer, or not at all, or wants to be told, says so here: stored_filter::wait_with. It changes no
/// verdict: a call that is made again gets the answer of its first attempt, or none.
/// Threads: any number may call at once.
class patience {
 public:
  virtual ~patience() = default;

  /// Why and for how long a call has had no answer.
  struct outage {
    const std::string& why;            ///< names the server
    std::chrono::milliseconds lasted;  ///< since the first attempt failed
    std::chrono::milliseconds limit;   ///< how long the store itself would go on
  };
  /// An attempt has failed, and the next may succeed. Called once an attempt: after the pauses between them,
  /// or the time limit of the store.
  /// @return whether to make another; if not, the call fails
  virtual bool tries_again(const outage& now) = 0;

  /// The store answers again. Called at the first answer after each tries_again, at times more than once.
  virtual void is_over() = 0;
};

}  // namespace everseen
