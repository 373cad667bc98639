#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/basic_dynamic_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "everseen/server/asio_connection.hpp"
#include "everseen/server/asio_encrypted.hpp"
#include "everseen/server/asio_http_head.hpp"
#include "everseen/server/http_routes.hpp"

namespace everseen::server {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

/// A body grows as bytes arrive, never by a length that a client announces.
using growing_body = http::basic_dynamic_body<boost::beast::flat_buffer>;
using request_parser = http::request_parser<growing_body>;

/// Room for what comes next. What a connection keeps while it is quiet is little.
constexpr std::size_t head_read_bytes = 4 << 10;
constexpr std::size_t body_read_bytes = 64 << 10;
constexpr std::uint32_t head_bytes = 16 << 10;
/// A client that keeps its connection for later requests is left after this, if no idle time was configured.
constexpr std::chrono::seconds keep_alive{75};
/// What a client still sends after it was refused is thrown away for so long, so that it reads why.
constexpr std::chrono::seconds lingering{2};

/// Moves requests and answers between a socket and the interface, one after the other.
///
/// While a worker answers, nothing is read: a client that sends on waits for its answers.
template <typename Stream>
class http_connection final : public connection,
                              public std::enable_shared_from_this<http_connection<Stream>> {
 public:
  template <typename... Arguments>
  http_connection(loop& home, service& all, std::shared_ptr<client> who, arrival how, Arguments&&... stream)
      : home_(home),
        all_(all),
        client_(std::move(who)),
        how_(how),
        stream_(std::forward<Arguments>(stream)...) {
    client_->last_command = "http";
    begin_request();
  }

  ~http_connection() override { all_.clients().remove(client_->id); }

  void begin() {
    home_.add(this->shared_from_this());
    client_->end = [home = &home_, weak = this->weak_from_this()] {
      asio::post(home->context(), [weak] {
        if (const auto self = weak.lock()) self->close();
      });
    };
    all_.clients().add(client_);
    if constexpr (is_encrypted<Stream>)
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code fault) {
                                if (fault) return self->close();
                                self->read();
                              });
    else
      read();
  }

  void look_at_clock(clock::time_point now) override {
    const auto& limits = all_.settings();
    const auto exceeds = [&](clock::time_point since, std::chrono::seconds limit) {
      return limit.count() > 0 && now - since > limit;
    };
    if (is_suspended_) return;
    if (is_writing_) {
      if (exceeds(wrote_, limits.write_timeout)) close();
    } else if (is_lingering_) {
      if (exceeds(wrote_, lingering)) close();
    } else if (!has_served_ || is_in_request()) {
      if (!exceeds(began_, limits.request_timeout)) return;
      if (is_in_request())
        refuse({408, "request_timeout", "the rest of the request did not come in time"}, is_rest_known::no);
      else
        close();
    } else {
      const std::chrono::seconds idle(all_.tunable.idle_timeout_s);
      if (exceeds(began_, idle.count() > 0 ? idle : keep_alive)) close();
    }
  }

  void drain() override {
    is_draining_ = true;
    if (!is_suspended_ && !is_writing_) close();
  }

  void close() override {
    if (is_closed_) return;
    is_closed_ = true;
    error_code ignored;
    lowest(stream_).close(ignored);
    home_.remove(this);
  }

 private:
  [[nodiscard]] bool is_in_request() const { return parser_->got_some() || buffer_.size() > 0; }

  void begin_request() {
    parser_.emplace();
    parser_->header_limit(head_bytes);
    parser_->body_limit(all_.settings().request.request_bytes);
    admitted_.reset();
    head_ = {};
    if (buffer_.size() == 0 && buffer_.capacity() > 2 * head_read_bytes && !is_reading_) buffer_ = {};
    began_ = arrived_ = clock::now();
  }

  void read() {
    if (is_reading_ || is_closed_) return;
    is_reading_ = true;
    stream_.async_read_some(buffer_.prepare(parser_->is_header_done() ? body_read_bytes : head_read_bytes),
                            [self = this->shared_from_this()](error_code fault, std::size_t count) {
                              self->is_reading_ = false;
                              if (fault) return self->hung_up();
                              self->received(count);
                            });
  }

  void received(std::size_t count) {
    client_->last_request_ms.store(service::now().time_since_epoch().count(), std::memory_order_relaxed);
    if (is_lingering_) return read();  // thrown away
    if (!is_in_request()) began_ = arrived_ = clock::now();
    buffer_.commit(count);
    serve();
  }

  /// The client sends no more; if it waits for an answer it still gets that.
  void hung_up() {
    is_draining_ = true;
    if (!is_writing_ && !is_suspended_) close();
  }

  /// Parses what has come, up to the end of one request.
  void serve() {
    while (!is_closed_ && !is_suspended_ && !is_writing_ && !is_lingering_) {
      if (parser_->is_done()) return run();
      if (buffer_.size() == 0) return read();
      error_code fault;
      buffer_.consume(parser_->put(buffer_.data(), fault));
      if (fault == http::error::need_more) return read();
      if (fault) return refuse(problem_of(fault), is_rest_known::no);
      if (parser_->is_header_done() && !admitted_ && !is_admitted()) return;
    }
  }

  /// Decides by the head alone.
  bool is_admitted() {
    head_ = head_of(parser_->get(), how_);
    try {
      must_be_unambiguous(parser_->get(), parser_->chunked());
      admitted_ = admit(all_, head_);
    } catch (const http_problem& p) {
      return refuse(p, parser_->is_done() ? is_rest_known::yes : is_rest_known::no), false;
    }
    if (expects_continue(parser_->get())) write("HTTP/1.1 100 Continue\r\n\r\n");
    return !is_writing_;
  }

  void run() {
    client_->last_command.store(admitted_->route->label, std::memory_order_relaxed);
    const auto body = parser_->get().body().data();
    head_.body = {static_cast<const char*>(body.data()), body.size()};
    if (admitted_->route->place == runs::at_once)
      return reply(answer(all_, *admitted_, head_), keeps_alive());
    is_suspended_ = true;
    if (admitted_->route->place == runs::aside) return run_on(all_.asides(), nullptr);
    exec_gate::lane& lane = all_.gate().lane_of_this_thread();
    auto run = [self = this->shared_from_this(), &lane] { self->run_on(self->all_.workers(), &lane); };
    if (all_.gate().enter(lane, this, run)) run();
  }

  /// @param entered  where it came in among those who ask and change filters, to go out again; may be null
  void run_on(worker_pool& pool, exec_gate::lane* entered) {
    pool.submit([self = this->shared_from_this(), entered]() mutable {
      auto response = answer(self->all_, *self->admitted_, self->head_);
      if (entered != nullptr) self->all_.gate().leave(*entered);
      asio::io_context& there = self->home_.context();  // the last reference must go on the loop's thread
      asio::post(there, [self = std::move(self), response = std::move(response)] {
        self->is_suspended_ = false;
        self->reply(response, self->keeps_alive());
      });
    });
  }

  [[nodiscard]] bool keeps_alive() const { return parser_->get().keep_alive() && !is_draining_; }

  /// Whether a request that is refused was read to its end, so that the next one can be found.
  enum class is_rest_known : bool { no, yes };
  void refuse(const http_problem& p, is_rest_known rest) {
    must_linger_ = rest == is_rest_known::no;
    reply(response_of(p), !must_linger_ && p.status != 400 && keeps_alive());
  }

  void reply(const http_response& r, bool keep) {
    all_.count.http_requests.fetch_add(1, std::memory_order_relaxed);
    if (r.status >= 400) all_.count.http_refusals.fetch_add(1, std::memory_order_relaxed);
    all_.http_took().note(clock::now() - arrived_);
    is_last_ = !keep;
    has_served_ = true;
    const bool with_body = head_.method != http_method::head;
    begin_request();
    write(encoded(r, with_body, keep));
  }

  void write(std::string bytes) {
    sending_ = std::move(bytes);
    sent_ = 0;
    wrote_ = clock::now();
    is_writing_ = true;
    write_some();
  }

  void write_some() {
    if (is_closed_) return;
    stream_.async_write_some(asio::buffer(sending_.data() + sent_, sending_.size() - sent_),
                             [self = this->shared_from_this()](error_code fault, std::size_t count) {
                               if (fault) return self->close();
                               self->wrote_ = clock::now();
                               self->sent_ += count;
                               if (self->sent_ < self->sending_.size()) return self->write_some();
                               self->wrote();
                             });
  }

  void wrote() {
    is_writing_ = false;
    sending_ = {};
    if (is_last_ || is_draining_) return end();
    serve();
  }

  void end() {
    is_lingering_ = true;
    if (!must_linger_) return end_in_order(this->shared_from_this(), stream_);
    error_code ignored;
    lowest(stream_).shutdown(asio::socket_base::shutdown_send, ignored);
    buffer_.clear();
    read();
  }

  loop& home_;
  service& all_;
  std::shared_ptr<client> client_;
  const arrival how_;
  Stream stream_;
  boost::beast::flat_buffer buffer_{};
  std::optional<request_parser> parser_{};
  http_request head_{};
  std::optional<admitted_request> admitted_{};
  std::string sending_{};
  std::size_t sent_ = 0;
  clock::time_point began_ = clock::now();
  clock::time_point arrived_ = began_;
  clock::time_point wrote_ = began_;
  bool has_served_ = false;
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool is_suspended_ = false;
  bool is_last_ = false;  // no request follows the answer that is sent
  bool must_linger_ = false;
  bool is_lingering_ = false;
  bool is_draining_ = false;
  bool is_closed_ = false;
};

}  // namespace

void begin_http_connection(loop& home, service& all, any_socket socket, const arrival& how,
                           std::shared_ptr<client> who) {
  if (how.tls == nullptr)
    std::make_shared<http_connection<any_socket>>(home, all, std::move(who), how, std::move(socket))->begin();
  else
    std::make_shared<http_connection<encrypted_socket>>(home, all, std::move(who), how, std::move(socket),
                                                        *how.tls)
        ->begin();
}

}  // namespace everseen::server
