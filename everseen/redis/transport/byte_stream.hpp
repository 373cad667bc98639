#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "everseen/redis/transport/event_loop.hpp"
#include "everseen/redis/transport/tls.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen::redis {

/// Why a connection is of no use.
struct failure {
  std::string message;     ///< names the server, says what to do
  bool permanent = false;  ///< trying again cannot help: a wrong password, a certificate that does not fit
};

/// One socket: TCP, Unix or TLS over TCP.
///
/// Reads all the time, also while it writes: two sides that both only write would wait for each other for
/// ever once the buffers between them are full. It asks for the bytes to send when there is room for them, so
/// that no more than one buffer of them is ever copied.
class byte_stream {
 public:
  /// Whom it serves. The stream may be destroyed in any of the calls, and calls nothing more then.
  class user {
   public:
    /// @return how many bytes to send were put there; 0: it asks again after pump(). First asked once
    /// connected.
    virtual std::size_t fill(std::span<char> room) = 0;
    virtual void received(std::string_view bytes) = 0;
    /// Some of what fill() gave was taken by the system.
    virtual void wrote() = 0;
    /// It is closed. Nothing more is called.
    virtual void broke(const failure& why) = 0;

   protected:
    ~user() = default;
  };

  /// @param tls  null: not encrypted; must live as long as the stream
  byte_stream(event_loop& loop, const endpoint& where, const tls_context* tls, user& serves);
  ~byte_stream();
  byte_stream(const byte_stream&) = delete;
  byte_stream& operator=(const byte_stream&) = delete;

  /// Begins to connect. Of several addresses of a host, each gets its share of the time before the next is
  /// tried.
  void open(std::chrono::milliseconds patience);
  /// There is something to send.
  void pump();

 private:
  class socket;
  std::shared_ptr<socket> socket_;
};

}  // namespace everseen::redis
