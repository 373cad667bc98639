#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "everseen/serve/net/asio_loop.hpp"
#include "everseen/serve/service/client_list.hpp"
#include "everseen/serve/service/service.hpp"

namespace everseen::serve {

// How connections over TLS differ from others.

using any_socket = boost::asio::generic::stream_protocol::socket;
using encrypted_socket = boost::asio::ssl::stream<any_socket>;

template <typename Stream>
inline constexpr bool is_encrypted = std::is_same_v<Stream, encrypted_socket>;

template <typename Stream>
any_socket& lowest(Stream& stream) {
  if constexpr (is_encrypted<Stream>)
    return stream.next_layer();
  else
    return stream;
}

/// Closes a connection whose answers were all sent. Over TLS it first sends close_notify, so that the client
/// can rule out truncation by others; the connection's timeout applies if that takes too long.
template <typename Connection, typename Stream>
void end_in_order(std::shared_ptr<Connection> c, Stream& stream) {
  if constexpr (is_encrypted<Stream>)
    stream.async_shutdown([c = std::move(c)](boost::system::error_code) { c->close(); });
  else
    c->close();
}

/// The protocol of an address.
enum class protocol : std::uint8_t { resp, http };

/// How a client connected.
struct arrival {
  protocol speaks = protocol::resp;
  boost::asio::ssl::context* tls = nullptr;  ///< null: not encrypted
  bool by_loopback = false;                  ///< at a TCP address that only this machine can reach
};

/// Starts to serve a client, on the thread of the loop that owns its socket.
void begin_resp_connection(loop& home, service& all, any_socket socket, const arrival& origin,
                           std::shared_ptr<client> who);
void begin_http_connection(loop& home, service& all, any_socket socket, const arrival& origin,
                           std::shared_ptr<client> who);

/// The socket of a client, for any protocol: how a connection begins, moves bytes, waits for work that is
/// done elsewhere, and ends.
///
/// At most one read and one write are in progress. Derived classes handle their results.
/// Threads: the loop's, except resume().
template <typename Stream>
class client_connection : public connection, public std::enable_shared_from_this<client_connection<Stream>> {
 public:
  template <typename... Arguments>
  client_connection(loop& home, service& common, std::shared_ptr<client> who, Arguments&&... stream)
      : home_(home), all_(common), client_(std::move(who)), stream_(std::forward<Arguments>(stream)...) {}

  ~client_connection() override { all_.clients().remove(client_->id); }

  /// @pre a shared pointer owns it
  void begin() {
    home_.add(this->shared_from_this());
    all_.clients().add(client_);
    if constexpr (is_encrypted<Stream>)
      stream_.async_handshake(boost::asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code fault) {
                                if (fault) return self->close();
                                self->opened();
                              });
    else
      opened();
  }

  void close() final {
    if (is_closed_) return;
    is_closed_ = true;
    error_code ignored;
    lowest(stream_).close(ignored);
    home_.remove(this);
  }

 protected:
  using error_code = boost::system::error_code;

  /// Where the next bytes are read to. They must stay there until received().
  virtual boost::asio::mutable_buffer room() = 0;
  virtual void received(std::size_t count) = 0;
  /// The client sends no more, but may still read.
  virtual void hung_up() = 0;
  /// Everything passed to send() was sent.
  virtual void sent() = 0;

  void read() {
    if (is_reading_ || is_closed_) return;
    is_reading_ = true;
    stream_.async_read_some(room(), [self = this->shared_from_this()](error_code fault, std::size_t count) {
      self->is_reading_ = false;
      if (fault) return self->hung_up();
      self->heard_ = clock::now();
      self->client_->last_request_ms.store(service::now().time_since_epoch().count(),
                                           std::memory_order_relaxed);
      self->received(count);
    });
  }

  /// Starts to send bytes, and empties the string.    @pre not is_writing()
  void send(std::string& bytes) {
    sending_.clear();
    sending_.swap(bytes);
    sent_ = 0;
    wrote_ = clock::now();
    is_writing_ = true;
    write_some();
  }
  [[nodiscard]] std::size_t unsent_bytes() const noexcept { return sending_.size() - sent_; }
  /// Frees the memory of what was sent, unless it is little.
  /// @param kept  bytes that may stay for the next answer
  void release_sent(std::size_t kept) {
    if (sending_.capacity() <= kept) return;
    std::string().swap(sending_);  // an assignment would keep it
    sent_ = 0;
  }

  /// From now on other threads work for this connection. It lives until resume().
  void suspend() {
    is_suspended_ = true;
    self_ = this->shared_from_this();
  }
  /// From any thread: `then` runs on the loop's thread, where the last reference is also released.
  template <typename Then>
  void resume(Then then) {
    boost::asio::post(home_.context(), [this, then = std::move(then)]() mutable {
      const auto self = std::move(self_);
      is_suspended_ = false;
      then();
    });
  }

  /// Whether bytes of the client have arrived that were not read yet.
  [[nodiscard]] bool has_unread() {
    boost::system::error_code ignored;
    return lowest(stream_).available(ignored) > 0;
  }

  /// Ends it in order: everything is answered, and further input is not read.
  void part() {
    wrote_ = clock::now();
    end_in_order(this->shared_from_this(), stream_);
  }
  /// Closes the sending side, and still reads.
  void stop_sending() {
    error_code ignored;
    lowest(stream_).shutdown(boost::asio::socket_base::shutdown_send, ignored);
  }

  [[nodiscard]] bool is_open() const noexcept { return is_open_; }  // the TLS handshake is complete
  [[nodiscard]] bool is_reading() const noexcept { return is_reading_; }
  [[nodiscard]] bool is_writing() const noexcept { return is_writing_; }
  [[nodiscard]] bool is_suspended() const noexcept { return is_suspended_; }
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

  [[nodiscard]] clock::time_point began() const noexcept { return began_; }
  [[nodiscard]] clock::time_point heard() const noexcept { return heard_; }
  [[nodiscard]] clock::time_point wrote() const noexcept { return wrote_; }
  /// A limit of 0 means no limit.
  [[nodiscard]] static bool exceeds(clock::duration time, std::chrono::seconds limit) noexcept {
    return limit.count() > 0 && time > limit;
  }

  [[nodiscard]] service& all() const noexcept { return all_; }
  [[nodiscard]] client& who() const noexcept { return *client_; }
  [[nodiscard]] const std::shared_ptr<client>& shared_who() const noexcept { return client_; }

 private:
  void opened() {
    is_open_ = true;
    read();
  }

  void write_some() {
    if (is_closed_) return;
    stream_.async_write_some(boost::asio::buffer(sending_.data() + sent_, unsent_bytes()),
                             [self = this->shared_from_this()](error_code fault, std::size_t count) {
                               if (fault) return self->close();
                               self->wrote_ = clock::now();
                               self->sent_ += count;
                               if (self->unsent_bytes() > 0) return self->write_some();
                               self->is_writing_ = false;
                               self->sent();
                             });
  }

  loop& home_;
  service& all_;
  std::shared_ptr<client> client_;
  Stream stream_;
  std::string sending_{};
  std::size_t sent_ = 0;
  std::shared_ptr<connection> self_{};  // while it is suspended
  clock::time_point began_ = clock::now();
  clock::time_point heard_ = began_;
  clock::time_point wrote_ = began_;
  bool is_open_ = false;
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool is_suspended_ = false;
  bool is_closed_ = false;
};

/// Starts to serve a client with a connection for plain sockets, or for TLS.
template <template <typename> typename Connection, typename... Arguments>
void begin_connection(loop& home, service& all, any_socket socket, const arrival& origin,
                      std::shared_ptr<client> who) {
  if (origin.tls == nullptr)
    std::make_shared<Connection<any_socket>>(home, all, std::move(who), origin, std::move(socket))->begin();
  else
    std::make_shared<Connection<encrypted_socket>>(home, all, std::move(who), origin, std::move(socket),
                                                   *origin.tls)
        ->begin();
}

}  // namespace everseen::serve
