#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace everseen::server {

/// Bytes that have arrived and are not yet used up, in one piece.
///
/// Small while a client is quiet, so that ten thousand of them cost little; larger for one that fills what it
/// is given, so that each read brings much. Threads: one.
class receive_buffer {
 public:
  [[nodiscard]] std::string_view unread() const noexcept { return {bytes_.get() + begin_, end_ - begin_}; }

  /// Space for the next bytes. May move unread().
  /// @param needed  what unread() must be able to hold; 0: whatever is worth while
  [[nodiscard]] std::span<char> room(std::size_t needed);
  /// The next bytes have arrived in room().
  void received(std::size_t count) noexcept;
  void use(std::size_t count) noexcept;

 private:
  static constexpr std::size_t least_bytes = 4 << 10;
  static constexpr std::size_t most_bytes = 256 << 10;  ///< unless a single request is longer

  void move_to(std::size_t capacity);

  std::unique_ptr<char[]> bytes_{};
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool was_filled_ = false;
};

}  // namespace everseen::server
