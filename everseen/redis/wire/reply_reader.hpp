#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "everseen/redis/wire/reply.hpp"

struct redisReader;
struct redisReplyObjectFunctions;

namespace everseen::redis {

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
