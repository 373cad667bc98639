#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "everseen/core/base/error.hpp"

namespace everseen::server {

/// A new filter would not fit into the memory limit for filters.
class no_room : public parameter_error {
 public:
  using parameter_error::parameter_error;
};

/// The bytes that the filters of a registry take together, and their limit. Threads: any number.
class filter_budget {
 public:
  explicit filter_budget(std::uint64_t most) noexcept : most_(most) {}

  /// The bytes that one filter takes, or has reserved during its creation. The destructor returns them: the
  /// creator of a filter holds the share and moves it into the filter, which also covers errors.
  /// Threads: any may read; one at a time may change it.
  class share {
   public:
    /// Of 0 bytes; see set().    @param of  outlives the share
    explicit share(filter_budget& of) noexcept : of_(&of) {}
    share(share&& other) noexcept : of_(other.of_), held_(other.held_.exchange(0)) {}
    share& operator=(share&&) = delete;
    ~share() { set(0); }

    /// Sets the actual size of the filter, even over the limit.
    void set(std::uint64_t bytes) noexcept {
      of_->taken_ += bytes - held_.exchange(bytes);  // modulo 2^64, so that the difference may be negative
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return held_; }

   private:
    friend class filter_budget;
    share(filter_budget& of, std::uint64_t reserved) noexcept : of_(&of), held_(reserved) {}

    filter_budget* of_;
    std::atomic<std::uint64_t> held_ = 0;
  };

  /// @throws no_room  the total would exceed the limit; nothing has changed
  [[nodiscard]] share reserve(std::uint64_t bytes);

  /// Whether the filters exceed the limit: keys that need memory must be refused.
  [[nodiscard]] bool is_full() const noexcept { return taken() > most(); }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  [[nodiscard]] std::uint64_t most() const noexcept { return most_; }
  void set_most(std::uint64_t bytes) noexcept { most_ = bytes; }

 private:
  std::atomic<std::uint64_t> taken_ = 0;
  std::atomic<std::uint64_t> most_;
};

}  // namespace everseen::server
