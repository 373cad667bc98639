#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

struct redisReply;

namespace everseen::redis {

/// The answer of a server to one command: a tree that owns its memory. Read by hiredis.
///
/// Copies share the tree. Threads: one at a time.
class reply {
 public:
  enum class kind : std::uint8_t { nil, status, error, integer, string, array };

  /// Nil, as when a key does not exist.
  reply() noexcept = default;
  /// Takes over a reply of hiredis.
  explicit reply(redisReply* tree);

  [[nodiscard]] kind what() const noexcept;
  [[nodiscard]] bool is_nil() const noexcept { return what() == kind::nil; }
  [[nodiscard]] bool is_error() const noexcept { return what() == kind::error; }

  /// The text of a status, error or string; empty for other types.
  [[nodiscard]] std::string_view text() const noexcept;
  /// The value of an integer; 0 for other types.
  [[nodiscard]] std::int64_t integer() const noexcept;
  /// The number of elements of an array; 0 for other types.
  [[nodiscard]] std::size_t size() const noexcept;
  /// An element of an array, valid as long as this reply; an element of a temporary keeps the tree alive. Nil
  /// after the last element: a server may omit values that it does not have.
  [[nodiscard]] reply operator[](std::size_t i) const& noexcept;
  [[nodiscard]] reply operator[](std::size_t i) && noexcept;

  /// Whether this is the error that begins with this word, as in MOVED, NOSCRIPT, OOM.
  [[nodiscard]] bool is_error(std::string_view word) const noexcept;

 private:
  reply(std::shared_ptr<redisReply> root, const redisReply* node) noexcept;

  std::shared_ptr<redisReply> root_{};  // empty in an element that is borrowed
  const redisReply* node_ = nullptr;
};

}  // namespace everseen::redis
