#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

struct redisReply;
struct redisReader;
struct redisReplyObjectFunctions;

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

/// The largest reply that is accepted from a server.
struct reply_limits {
  /// On the wire. A segment is a string of up to 512 MiB, the limit of Redis itself.
  std::size_t bytes = std::size_t{640} << 20;
  /// Elements of one array: their memory is allocated as soon as their number has arrived.
  std::size_t elements = std::size_t{1} << 24;
};

/// Bytes in, replies out: hiredis's reader, with limits. Arrays nest at most 7 deep.
class reply_reader {
 public:
  explicit reply_reader(const reply_limits& limits = {});
  ~reply_reader();
  reply_reader(const reply_reader&) = delete;
  reply_reader& operator=(const reply_reader&) = delete;

  void feed(std::string_view bytes);

  /// The next whole reply, or nothing until more bytes are fed, or a protocol error. After an error the
  /// reader must not be used again.
  [[nodiscard]] tl::expected<std::optional<reply>, std::string> next();

 private:
  struct hiredis_deleter {
    void operator()(redisReader* r) const noexcept;
  };

  reply_limits limits_;
  std::unique_ptr<redisReplyObjectFunctions> functions_;
  std::unique_ptr<redisReader, hiredis_deleter> reader_;
  std::size_t bytes_since_reply_ = 0;
};

}  // namespace everseen::redis
