#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "everseen/server/asio_connection.hpp"
#include "everseen/server/receive_buffer.hpp"
#include "everseen/server/session.hpp"

namespace everseen::server {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// For a client to take notice that the connection ends.
constexpr std::chrono::seconds goodbye{2};

/// Moves bytes between a socket and a session.
///
/// It reads on while it writes, or a client that sends much before it reads would wait for us and we for it;
/// once too many replies are waiting, it reads no more until the client has taken some.
template <typename Stream>
class stream_connection final : public connection,
                                public std::enable_shared_from_this<stream_connection<Stream>> {
 public:
  template <typename... Arguments>
  stream_connection(loop& home, service& all, std::shared_ptr<client> who, Arguments&&... stream)
      : home_(home),
        all_(all),
        client_(std::move(who)),
        stream_(std::forward<Arguments>(stream)...),
        session_(all, client_, [this] { wake(); }) {}

  ~stream_connection() override { all_.clients().remove(client_->id); }

  void begin() {
    home_.add(this->shared_from_this());
    client_->end = [home = &home_, weak = this->weak_from_this()] {
      asio::post(home->context(), [weak] {
        if (const auto self = weak.lock()) self->close();
      });
    };
    all_.clients().add(client_);
    if constexpr (is_encrypted<Stream>)
      shake_hands();
    else
      read();
  }

  void look_at_clock(clock::time_point now) override {
    const auto& limits = all_.settings();
    const auto exceeds = [&](clock::time_point since, std::chrono::seconds limit) {
      return limit.count() > 0 && now - since > limit;
    };
    const bool stranger = all_.asks_for_password() && session_.rights() == right::nothing;
    if (is_suspended_) return;
    if (is_finishing_) {
      if (exceeds(wrote_, goodbye)) close();
    } else if (is_writing_) {
      if (exceeds(wrote_, limits.write_timeout)) close();
    } else if (!is_open_ || stranger) {
      if (exceeds(began_, limits.request_timeout)) close();
    } else if (session_.is_in_request()) {
      if (exceeds(request_began_, limits.request_timeout)) close();
    } else if (exceeds(heard_, std::chrono::seconds(all_.tunable.idle_timeout_s))) {
      close();
    }
  }

  void drain() override {
    is_draining_ = true;
    if (!is_suspended_ && !is_writing_) finish();
  }

  void close() override {
    if (is_closed_) return;
    is_closed_ = true;
    error_code ignored;
    lowest(stream_).close(ignored);
    home_.remove(this);
  }

 private:
  void shake_hands() {
    if constexpr (is_encrypted<Stream>)
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code fault) {
                                if (fault) return self->close();
                                self->read();
                              });
  }

  void read() {
    is_open_ = true;
    if (is_reading_ || is_closed_) return;
    is_reading_ = true;
    const std::span<char> room = buffer_.room(session_.needed_bytes());
    stream_.async_read_some(asio::buffer(room.data(), room.size()),
                            [self = this->shared_from_this()](error_code fault, std::size_t count) {
                              self->is_reading_ = false;
                              if (fault) return self->hung_up();
                              self->heard_ = clock::now();
                              self->client_->last_request_ms.store(service::now().time_since_epoch().count(),
                                                                   std::memory_order_relaxed);
                              self->buffer_.received(count);
                              self->serve();
                            });
  }

  /// The client sends no more, but may still read.
  void hung_up() {
    is_ending_ = true;
    if (!is_writing_ && !is_suspended_) close();
  }

  [[nodiscard]] bool has_too_much_to_send() {
    return sending_.size() - sent_ + session_.output().size() > all_.settings().output_bytes;
  }

  void serve() {
    while (!is_closed_ && !is_suspended_ && !is_ending_ && !is_reading_ && !has_too_much_to_send()) {
      const bool was_in_request = session_.is_in_request();
      const session::progress p = session_.run(buffer_.unread());
      if (p.is == session::state::suspended) {
        // From here on the session belongs to a worker, which may be done with it already.
        buffer_.use(p.used);
        is_suspended_ = true;
        self_ = this->shared_from_this();
        return;
      }
      buffer_.use(p.used);
      if (session_.is_in_request() && (!was_in_request || p.used > 0)) request_began_ = heard_;
      if (p.is == session::state::ending) is_ending_ = true;
      write();
      if (p.is == session::state::wants_bytes && !is_ending_ && !is_draining_) read();
      if (p.is == session::state::wants_bytes) break;
    }
    if (!is_writing_ && !is_suspended_ && (is_ending_ || is_draining_)) finish();
  }

  /// All is answered.
  void finish() {
    if (is_closed_ || is_finishing_) return;
    is_finishing_ = true;
    wrote_ = clock::now();
    end_in_order(this->shared_from_this(), stream_);
  }

  /// Called on a worker.
  void wake() {
    asio::post(home_.context(), [this] {
      const auto self = std::move(self_);
      is_suspended_ = false;
      serve();
    });
  }

  void write() {
    if (is_writing_ || is_closed_) return;
    if (sent_ == sending_.size()) {
      sending_.clear();
      sent_ = 0;
      sending_.swap(session_.output());
      if (sending_.empty()) return;
      wrote_ = clock::now();
    }
    is_writing_ = true;
    stream_.async_write_some(asio::buffer(sending_.data() + sent_, sending_.size() - sent_),
                             [self = this->shared_from_this()](error_code fault, std::size_t count) {
                               self->is_writing_ = false;
                               if (fault) return self->close();
                               self->wrote_ = clock::now();
                               self->sent_ += count;
                               self->wrote();
                             });
  }

  void wrote() {
    if (sent_ < sending_.size()) return write();
    if (is_suspended_) return;  // what the session has written meanwhile is a worker's
    write();
    serve();
  }

  loop& home_;
  service& all_;
  std::shared_ptr<client> client_;
  Stream stream_;
  session session_;
  receive_buffer buffer_{};
  std::string sending_{};
  std::size_t sent_ = 0;
  std::shared_ptr<connection> self_{};  // while a worker has the session
  clock::time_point began_ = clock::now();
  clock::time_point heard_ = began_;
  clock::time_point wrote_ = began_;
  clock::time_point request_began_ = began_;
  bool is_open_ = false;  // TLS has shaken hands
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool is_suspended_ = false;
  bool is_ending_ = false;
  bool is_draining_ = false;
  bool is_finishing_ = false;
  bool is_closed_ = false;
};

}  // namespace

void begin_resp_connection(loop& home, service& all, any_socket socket, const arrival& how,
                           std::shared_ptr<client> who) {
  if (how.tls == nullptr)
    std::make_shared<stream_connection<any_socket>>(home, all, std::move(who), std::move(socket))->begin();
  else
    std::make_shared<stream_connection<encrypted_socket>>(home, all, std::move(who), std::move(socket),
                                                          *how.tls)
        ->begin();
}

}  // namespace everseen::server
