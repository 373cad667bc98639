#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
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

  /// The result of `work`, run while no other caller holds the name.
  /// @throws what `work` threw, also for callers that waited for the name meanwhile
  template <typename Work>
  auto join(std::string_view name, Work work) {
    return run(name, failures::all, work);
  }

  /// The same for callers that ask different things of one name. They share the outage of a server alone: any
  /// other failure is about what its own caller asked.
  template <typename Work>
  auto change(std::string_view name, Work work) {
    return run(name, failures::outages, work);
  }
  /// The same for two names together.
  template <typename Work>
  auto change(std::string_view one, std::string_view other, Work work) {
    // In the order of the slots, so that two callers that want the same two names do not deadlock.
    if (&slot_of(other) < &slot_of(one)) std::swap(one, other);
    return change(one, [&] { return &slot_of(one) == &slot_of(other) ? work() : change(other, work); });
  }

 private:
  using clock = std::chrono::steady_clock;
  enum class failures : bool { outages, all };
  enum class by_outage : bool { no, yes };
  struct slot {
    std::mutex busy{};
    std::mutex lock{};  // guards the members below
    std::string name{};
    std::exception_ptr fault{};
    bool is_outage = false;
    clock::time_point ended{};
  };
  /// How work on a held name ended. Its destructor notes it for those that wait.
  struct outcome {
    single_flight& all;
    std::string_view name;
    std::exception_ptr fault{};
    bool is_outage = false;
    void fail(by_outage is_so) noexcept {
      fault = std::current_exception();
      is_outage = is_so == by_outage::yes;
    }
    ~outcome() {
      try {
        all.note(*this);
      } catch (const std::bad_alloc&) {  // nobody learns of it
      }
    }
  };
  template <typename Work>
  auto run(std::string_view name, failures shared, Work& work) {
    const hold mine = take_or_fail(name, shared);
    outcome noted{*this, name};
    try {
      return work();
    } catch (const backend_error&) {
      noted.fail(by_outage::yes);
      throw;
    } catch (...) {
      if (shared == failures::all) noted.fail(by_outage::no);
      throw;
    }
  }
  [[nodiscard]] slot& slot_of(std::string_view name) noexcept;
  [[nodiscard]] hold take_or_fail(std::string_view name, failures shared);
  void note(const outcome& ended);
  static void rethrow_since(slot& s, std::string_view name, failures shared, clock::time_point since);

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
