#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace everseen::serve {

/// Limits the rate of password guessing, without slowing other clients.
///
/// Each source (an address, a network of one customer, or all Unix sockets) may send 50 wrong passwords in a
/// burst and 10 a second; all sources of an IPv6 /48, the network of one site, 200 and 40 a second. All
/// sources with recent wrong passwords share 100 a second, so that many addresses together guess no faster.
/// A password over any of these limits is not checked, so the reply reveals nothing, not even that it was
/// right. No thread waits: the client is told to retry.
///
/// A source with a correct password before is limited only by its own, so that others cannot lock it out. A
/// source without recent wrong passwords, of itself or its site, is always checked. Memory is bounded: of
/// too many sources the least recently noted one is evicted.
///
/// Threads: any number.
class guess_limit {
 public:
  using clock = std::chrono::steady_clock;

  /// How many wrong passwords are allowed.
  struct allowance {
    double at_once;
    double a_second;
  };
  static constexpr allowance of_source{50, 10};
  static constexpr allowance of_site{200, 40};
  static constexpr allowance of_all{1'000, 100};
  /// After this, a wrong password is forgotten.
  static constexpr std::chrono::minutes memory{10};
  static constexpr std::size_t most_sources = 10'000;  ///< that were wrong; the same number that were right

  /// @param source  as client::network
  /// @return false  the password must not be checked    Cost: a load until a password is wrong, then
  ///         look-ups.
  [[nodiscard]] bool may_try(std::string_view source, clock::time_point current_time);
  void was_wrong(std::string_view source, clock::time_point current_time);
  void was_right(std::string_view source, clock::time_point current_time);

  /// When to retry.
  static constexpr std::chrono::seconds pause{1};

 private:
  /// Wrong passwords that are still allowed; refilled over time.
  class bucket {
   public:
    bucket(const allowance& most, clock::time_point current_time) noexcept
        : most_(&most), left_(most.at_once), refilled_(current_time) {}
    [[nodiscard]] bool has_one(clock::time_point current_time) noexcept;
    void take(clock::time_point current_time) noexcept;

   private:
    void refill(clock::time_point current_time) noexcept;

    const allowance* most_;
    double left_;
    clock::time_point refilled_;
  };

  /// The most recently noted sources.
  class recent_sources {
   public:
    /// @return null  unknown
    [[nodiscard]] bucket* find(std::string_view source);
    /// Makes it the most recently noted one.
    bucket& note(std::string_view source, const allowance& most, clock::time_point current_time);
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

}  // namespace everseen::serve
