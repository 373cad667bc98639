#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "everseen/serve/base/byte_budget.hpp"

namespace everseen::serve {

/// Received bytes that were not processed yet, in one piece.
///
/// Small for an idle client, so that ten thousand of them cost little; larger for a client that fills it, so
/// that each read returns more. While it holds part of a request, all but the smallest buffer counts against
/// a budget that all clients share. Threads: one.
class receive_buffer {
 public:
  explicit receive_buffer(byte_budget& of_all) : held_(of_all) {}

  [[nodiscard]] std::string_view unread() const noexcept { return {bytes_.get() + begin_, end_ - begin_}; }

  /// Space for the next bytes. May move unread().
  /// @param needed  what unread() must be able to hold; 0: any useful size
  /// @return empty  other clients hold so much that the request cannot be read
  [[nodiscard]] std::span<char> room(std::size_t needed);
  /// The next bytes have arrived in room().
  void received(std::size_t count) noexcept;
  void use(std::size_t count) noexcept;

 private:
  static constexpr std::size_t least_bytes = 4 << 10;
  static constexpr std::size_t most_bytes = 256 << 10;  ///< unless a single request is longer

  [[nodiscard]] std::size_t best_capacity(std::size_t needed) const noexcept;
  [[nodiscard]] bool may_have(std::size_t capacity) noexcept;
  void move_to(std::size_t capacity);

  std::unique_ptr<char[]> bytes_{};
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool was_filled_ = false;
  byte_budget::share held_;
};

}  // namespace everseen::serve
