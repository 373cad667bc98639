#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "everseen/redis/transport/event_loop.hpp"
#include "everseen/redis/wire/redis_url.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace everseen::redis {

/// What all TLS connections of one URL share: the trusted CAs and the client's certificate.
///
/// TLS 1.2 or later; the server's certificate must be signed by a trusted CA and name the server.
class tls_context {
 public:
  /// @throws parameter_error  a file of the URL cannot be read, or the key does not belong to the certificate
  explicit tls_context(const redis_url& url);

  /// Prepares a session for a server: sends its name (SNI) and checks the certificate against it.
  void expect(ssl_st* session, const std::string& host) const;

  /// OpenSSL's message about the certificate if that is why a handshake failed.
  /// @return empty if the certificate was not the reason
  [[nodiscard]] static std::string certificate_fault(ssl_st* session);

  [[nodiscard]] ssl_ctx_st* get() const noexcept { return context_.get(); }

 private:
  std::shared_ptr<ssl_ctx_st> context_;
  std::string server_name_;
};

/// Why a connection has failed.
struct failure {
  std::string message;                     ///< names the server, says what to do
  bool permanent = false;                  ///< a retry cannot help: a wrong password or certificate
  std::chrono::milliseconds silent_for{};  ///< how long the server had not answered when it was given up
};

/// One socket: TCP, Unix or TLS over TCP.
///
/// It reads while it writes: two sides that both only write would deadlock once the buffers between them are
/// full. It requests bytes to send only when there is room for them, so at most one buffer of bytes is
/// copied.
class byte_stream {
 public:
  /// Receives its events. The stream may be destroyed in any of the calls, and then makes no more calls.
  class user {
   public:
    /// Puts bytes to send into `room`. First called once connected.
    /// @return their number; 0: called again after pump()
    virtual std::size_t fill(std::span<char> room) = 0;
    virtual void received(std::string_view bytes) = 0;
    /// The system has taken some of the bytes from fill().
    virtual void wrote() = 0;
    /// It is closed. No more calls follow. The message does not name the server.
    virtual void broke(const failure& why) = 0;

   protected:
    ~user() = default;
  };

  /// @param tls  null: not encrypted; must live as long as the stream
  byte_stream(event_loop& loop, const endpoint& where, const tls_context* tls, user& serves);
  ~byte_stream();
  byte_stream(const byte_stream&) = delete;
  byte_stream& operator=(const byte_stream&) = delete;

  /// Begins to connect. If a host has several addresses, they are tried in turn, each for its share of the
  /// time.
  void open(std::chrono::milliseconds time_limit);
  /// There is something to send.
  void pump();

 private:
  class socket;
  std::shared_ptr<socket> socket_;
};

}  // namespace everseen::redis
