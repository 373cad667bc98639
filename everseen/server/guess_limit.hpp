#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace everseen::server {

/// Slows down whoever guesses passwords, and nobody else.
///
/// Each source (an address, a network of one customer, or all Unix sockets) may be wrong 50 times at once and
/// 10 times a second. All sources that were wrong lately share 100 wrong passwords a second, so that many
/// addresses together guess no faster. What exceeds either is not looked at, so it tells nothing, not even
/// that the password was right. A source that was not wrong lately is always looked at. Nobody is made to
/// wait on a thread: the client is told to ask again.
///
/// Threads: any number.
class guess_limit {
 public:
  using clock = std::chrono::steady_clock;

  static constexpr double burst = 50;
  static constexpr double a_second = 10;
  static constexpr double burst_of_all = 1'000;
  static constexpr double a_second_of_all = 100;
  /// A source that was wrong is as good as any other after this.
  static constexpr std::chrono::minutes memory{10};
  static constexpr std::size_t most_sources = 10'000;

  /// @return false  the password must not be looked at    Cost: a load while nobody was wrong lately.
  [[nodiscard]] bool may_try(std::string_view source, clock::time_point now);
  void was_wrong(std::string_view source, clock::time_point now);

  /// When to ask again.
  static constexpr std::chrono::seconds pause{1};

 private:
  /// Wrong passwords that are still allowed; they come back with time.
  struct bucket {
    double left;
    clock::time_point looked_at;
    void refill(clock::time_point now, double rate, double most) noexcept;
    void take() noexcept;
  };
  void make_room(clock::time_point now);

  std::mutex lock_{};
  std::atomic<bool> nobody_was_wrong_ = true;
  std::map<std::string, bucket, std::less<>> wrong_{};  // sources that were wrong lately
  bucket all_{burst_of_all, {}};
};

}  // namespace everseen::server
