#pragma once

#include <chrono>
#include <string>

namespace everseen {

/// Decides how long calls to an unavailable store are retried.
///
/// A store on other machines has its own limit, after which a call fails. To wait longer, or not at all, or
/// to be notified, a caller installs a policy with store::wait_with. It changes no verdict: a retried call
/// gets the answer of its first attempt, or none. Threads: any number may call concurrently.
class retry_policy {
 public:
  virtual ~retry_policy() = default;

  /// Why and for how long a call has been unanswered.
  struct outage {
    const std::string& why;            ///< names the server
    std::chrono::milliseconds lasted;  ///< since the server fell silent or refused the first attempt
    std::chrono::milliseconds limit;   ///< how long the store itself would retry
  };
  /// An attempt has failed, and the next may succeed. Called once per attempt: after the pause between
  /// attempts, or after the time limit of the store.
  /// @return whether to retry; if false, the call fails
  virtual bool tries_again(const outage& trouble) = 0;

  /// An attempt has had no answer for a second, and has not failed: a server that accepts connections and
  /// says nothing. For a note to the user.    @param why  names the server
  virtual void on_silence(const std::string& /*why*/) {}

  /// The store answers again. Called at the first answer after each tries_again or on_silence, sometimes more
  /// than once.
  virtual void on_recovered() = 0;

  /// Whether calls may be retried for hours, so that servers must remember their answers for a day.
  [[nodiscard]] virtual bool may_take_hours() const noexcept { return true; }
};

}  // namespace everseen
