#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "everseen/cli/terminal/progress.hpp"
#include "everseen/store/port/retry_policy.hpp"

namespace everseen::cli {

/// What a verb does while it waits for its store, for a server that does not answer or for a process that has
/// the filter open: it says so on standard error after a second. A terminal shows it until the wait has
/// ended; elsewhere it is one line.
class store_wait final : public retry_policy {
 public:
  /// Shown as no limit at all.
  static constexpr std::chrono::hours for_ever{24 * 36'500};

  /// @param limit  nothing: as long as the store itself would
  explicit store_wait(std::optional<std::chrono::milliseconds> limit) : limit_(limit) {}

  /// A signal ends the wait.
  bool tries_again(const outage& trouble) override;
  void on_silence(const std::string& why) override;
  void on_recovered() override;
  /// A server is waited for as long as the store itself would.
  [[nodiscard]] bool may_take_hours() const noexcept override { return false; }

 private:
  void show(const std::string& why, std::chrono::milliseconds limit);

  const std::optional<std::chrono::milliseconds> limit_;
  std::mutex lock_;  // guards the members below
  bool has_said_ = false;
  std::optional<progress_line> line_{};
};

}  // namespace everseen::cli
