#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace everseen::server {

/// Slows down whoever guesses passwords, and nobody else.
///
/// Each source (an address, a network of one customer, or all Unix sockets) may be wrong 50 times at once and
/// 10 times a second; all sources of an IPv6 /48, which is what one site is given, 200 times and 40 times a
/// second. All that were wrong lately share 100 wrong passwords a second, so that many addresses together
/// guess no faster. What exceeds any of these is not looked at, so it tells nothing, not even that the
/// password was right. Nobody is made to wait on a thread: the client is told to ask again.
///
/// A source that was right before answers for itself alone, so that guesses of others never keep it out. A
/// source that was not wrong lately, nor its site, is always looked at. Memory is bounded: of too many
/// sources the one goes that was noted longest ago.
///
/// Threads: any number.
class guess_limit {
 public:
  using clock = std::chrono::steady_clock;

  /// How often passwords may be wrong.
  struct allowance {
    double at_once;
    double a_second;
  };
  static constexpr allowance of_source{50, 10};
  static constexpr allowance of_site{200, 40};
  static constexpr allowance of_all{1'000, 100};
  /// A source that was wrong is as good as any other after this.
  static constexpr std::chrono::minutes memory{10};
  static constexpr std::size_t most_sources = 10'000;  ///< that were wrong; and as many that were right

  /// @param source  as client::network
  /// @return false  the password must not be looked at    Cost: a load until somebody is wrong, then
  /// look-ups.
  [[nodiscard]] bool may_try(std::string_view source, clock::time_point now);
  void was_wrong(std::string_view source, clock::time_point now);
  void was_right(std::string_view source, clock::time_point now);

  /// When to ask again.
  static constexpr std::chrono::seconds pause{1};

 private:
  /// Wrong passwords that are still allowed; they come back with time.
  class bucket {
   public:
    bucket(const allowance& most, clock::time_point now) noexcept
        : most_(&most), left_(most.at_once), refilled_(now) {}
    [[nodiscard]] bool has_one(clock::time_point now) noexcept;
    void take(clock::time_point now) noexcept;

   private:
    void refill(clock::time_point now) noexcept;

    const allowance* most_;
    double left_;
    clock::time_point refilled_;
  };

  /// The sources that were noted last.
  class recent_sources {
   public:
    /// @return null  it is not known
    [[nodiscard]] bucket* find(std::string_view source);
    /// From now on it is the one that was noted last.
    bucket& note(std::string_view source, const allowance& most, clock::time_point now);
    void forget_before(clock::time_point when);

   private:
    struct entry {
      std::string source;
      bucket left;
      clock::time_point noted;
    };
    void forget_oldest();

    std::list<entry> newest_first_{};
    std::map<std::string_view, std::list<entry>::iterator> known_{};  // by entry::source
  };

  std::mutex lock_{};
  std::atomic<bool> nobody_was_wrong_ = true;
  recent_sources wrong_{};  // and their sites
  recent_sources right_{};
  bucket all_{of_all, {}};
};

}  // namespace everseen::server
