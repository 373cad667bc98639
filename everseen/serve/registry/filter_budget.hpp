#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/store/port/stored_filter.hpp"

namespace everseen::serve {

/// A new filter would not fit into the memory limit for filters.
class no_room : public parameter_error {
 public:
  using parameter_error::parameter_error;
};

/// The bytes that the filters of a registry take together, and their limit. Threads: any number.
class filter_budget {
 public:
  static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

  explicit filter_budget(std::uint64_t most) noexcept : most_(most) {}

  /// The bytes that one filter takes, or has reserved during its creation. The destructor returns them: the
  /// creator of a filter holds the share and moves it into the filter, which also covers errors.
  ///
  /// The filter asks its share before it makes a segment, so the limit is never exceeded by growth. What was
  /// reserved is used first.
  class share final : public segment_room {
   public:
    /// Of 0 bytes; see set().    @param budget  outlives the share
    explicit share(filter_budget& budget) noexcept : budget_(&budget) {}
    share(share&& other) noexcept;
    share& operator=(share&&) = delete;
    ~share() override { set(0); }

    /// @throws full_error  with ENOMEM: the total would exceed the limit; nothing has changed
    void take(std::uint64_t bytes) override;
    void give_back(std::uint64_t bytes) noexcept override;

    /// How much of the room a filter uses, as measured, and what it has reserved beyond that.
    struct size {
      std::uint64_t used = 0;
      std::uint64_t reserved = 0;  ///< counts if it is more
    };
    /// Sets the measured size, even over the limit.
    /// @param taken  takes() before it was measured
    /// @return false  nothing has changed: the filter has grown since
    bool set(const size& measured, std::uint64_t taken) noexcept;
    /// Sets the size, all of it in use.
    void set(std::uint64_t bytes) noexcept;
    /// How often take() was called.
    [[nodiscard]] std::uint64_t takes() const noexcept { return takes_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return held_; }

   private:
    friend class filter_budget;
    share(filter_budget& budget, const size& of_filter) noexcept
        : budget_(&budget), used_(of_filter.used), held_(of_filter.reserved) {}
    void hold(std::uint64_t bytes) noexcept;

    filter_budget* budget_;
    std::mutex lock_{};  // guards changes of the following members
    std::uint64_t used_ = 0;
    std::atomic<std::uint64_t> held_ = 0;
    std::atomic<std::uint64_t> takes_ = 0;
  };

  /// @param wanted  of which `used` needs no segments of the filter
  /// @throws no_room  the total would exceed the limit; nothing has changed
  [[nodiscard]] share reserve(const share::size& wanted);

  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  [[nodiscard]] std::uint64_t most() const noexcept { return most_; }
  void set_most(std::uint64_t bytes) noexcept { most_ = bytes; }

 private:
  /// Takes bytes if the limit allows it.    @return whether
  [[nodiscard]] bool take(std::uint64_t bytes) noexcept;
  /// In words, for errors.
  [[nodiscard]] std::string lack(std::uint64_t bytes) const;

  std::atomic<std::uint64_t> taken_ = 0;
  std::atomic<std::uint64_t> most_;
};

/// Bytes of a filter after its first keys: the first layer of every partition; with a window, those of one
/// slice.
[[nodiscard]] inline std::uint64_t planned_bytes(const spec& s) {
  return growth::plan_layer(s, 0).shape.bytes * s.partitions;
}

/// Memory of an open filter beside its bits: its counters, names and locks. Measured: doc/measurements.md,
/// "What a small filter takes".
[[nodiscard]] constexpr std::uint64_t bytes_beside_bits(std::uint32_t partitions) noexcept {
  constexpr std::uint64_t of_any = 4'608, of_a_partition = 288;
  return of_any + of_a_partition * partitions;
}

}  // namespace everseen::serve
