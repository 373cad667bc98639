#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/port/store.hpp"

namespace everseen::serve {

/// One operation at a time for each name, and one outage for all its callers. For operations that wait for
/// the store.
///
/// Otherwise each of many callers would wait through an outage by itself, one after the other. Threads: any
/// number. Memory: fixed; two names may share a lock.
class single_flight {
 public:
  using hold = std::unique_lock<std::mutex>;

  /// Waits until no other caller holds the name.
  [[nodiscard]] hold take(std::string_view name);

  /// The same for two names together.
  struct both {
    hold first;
    hold second;  // empty if they share a lock
  };
  [[nodiscard]] both take(std::string_view one, std::string_view other);

  /// The result of `work`, run while no other caller holds the name.
  /// @throws what `work` threw, also for callers that waited for the name meanwhile
  template <typename Work>
  auto join(std::string_view name, Work work) {
    const hold mine = take_or_fail(name);
    try {
      auto result = work();
      note(name, nullptr);
      return result;
    } catch (...) {
      note(name, std::current_exception());
      throw;
    }
  }

 private:
  using clock = std::chrono::steady_clock;
  struct slot {
    std::mutex busy{};
    std::mutex lock{};  // guards the members below
    std::string name{};
    std::exception_ptr fault{};
    clock::time_point ended{};
  };
  [[nodiscard]] slot& slot_of(std::string_view name) noexcept;
  [[nodiscard]] hold take_or_fail(std::string_view name);
  void note(std::string_view name, std::exception_ptr fault);
  static void rethrow_since(slot& s, std::string_view name, clock::time_point since);

  std::array<slot, 256> slots_{};
};

/// The names of all filters of a store.
///
/// Clients may ask often, and a listing asks every server. So for a store on servers the listing may be a
/// second old, except for what this process created, renamed or dropped. Threads: any number.
class key_listing {
 public:
  /// @param place  outlives it
  explicit key_listing(const everseen::store& place) : place_(place) {}

  /// In ascending order.    @throws error  as store::list
  [[nodiscard]] std::vector<std::string> keys();
  /// Discards the cached listing: a filter was created, renamed or dropped.
  void forget();

 private:
  const everseen::store& place_;
  single_flight flights_{};
  std::mutex lock_{};  // guards the members below
  std::vector<std::string> keys_{};
  std::chrono::steady_clock::time_point good_until_{};
  std::uint64_t changes_ = 0;
};

}  // namespace everseen::serve
