#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "everseen/serve/net/asio_connection.hpp"
#include "everseen/serve/net/receive_buffer.hpp"
#include "everseen/serve/resp/session.hpp"

namespace everseen::serve {

namespace {

/// Time for a client to notice the end of the connection.
constexpr std::chrono::seconds goodbye{2};

/// Replies that a client which has not logged in may leave unread: as many bytes as it may have in a request.
constexpr std::size_t stranger_output_bytes = wire::stranger_limits.request_bytes;

/// Memory for replies that a connection keeps; each has two such strings, which change places.
constexpr std::size_t kept_output_bytes = 64 << 10;

/// When the server is stopped: a client that sends nothing for so long has the answers to all its requests.
/// Shorter than its pauses between attempts soon are, as it repeats what is refused.
constexpr std::chrono::milliseconds quiet{200};
constexpr std::chrono::seconds longest_drain{2};

/// Moves bytes between a socket and a session.
///
/// It continues to read while it writes: otherwise it would deadlock with a client that sends much before it
/// reads. If too many replies are waiting, it stops reading until the client has taken some.
template <typename Stream>
class resp_connection final : public client_connection<Stream> {
  using base = client_connection<Stream>;
  using base::all, base::heard, base::is_closed, base::is_reading, base::is_suspended, base::is_writing;

 public:
  template <typename... Arguments>
  resp_connection(loop& home, service& common, std::shared_ptr<client> who, const arrival&,
                  Arguments&&... stream)
      : base(home, common, std::move(who), std::forward<Arguments>(stream)...),
        session_(common, base::shared_who(), [this] { base::resume([this] { continue_serving(); }); }),
        buffer_(common.requests()),
        request_began_(base::began()) {}

  void look_at_clock(connection::clock::time_point current_time) override {
    if (is_suspended()) return;
    if (has_drained(current_time)) return finish();
    const auto& limits = all().settings();
    const auto is_over = [&](auto since, std::chrono::seconds limit) {
      return base::exceeds(current_time - since, limit);
    };
    const bool must_end = is_finishing_                      ? is_over(base::wrote(), goodbye)
                          : !base::is_open() || is_unknown() ? is_over(base::began(), limits.request_timeout)
                          : is_writing()                     ? is_over(base::wrote(), limits.write_timeout)
                          : session_.is_in_request()         ? is_over(request_began_, limits.request_timeout)
                                                             : is_over(heard(), idle_timeout());
    if (must_end) base::close();
  }

  /// Requests that arrived are answered. Later ones are refused: without an answer, a client could not know
  /// that they were not run.
  void drain() override {
    is_draining_ = true;
    drain_began_ = connection::clock::now();
    if (is_reading()) session_.stop_running();
  }

 private:
  /// On a loaded machine the clock may be looked at before a request that has arrived is read.
  [[nodiscard]] bool has_drained(connection::clock::time_point current_time) {
    if (!is_draining_ || is_finishing_ || is_writing()) return false;
    const bool is_quiet = current_time - std::max({heard(), base::wrote(), drain_began_}) > quiet;
    return (is_quiet && !base::has_unread()) || current_time - drain_began_ > longest_drain;
  }

  /// Whether the client has yet to log in.
  [[nodiscard]] bool is_unknown() const {
    return all().asks_for_password() && session_.rights() == right::nothing;
  }

  [[nodiscard]] std::chrono::seconds idle_timeout() const {
    return std::chrono::seconds(all().tunable.idle_timeout_s);
  }

  boost::asio::mutable_buffer room() override {
    if (room_.empty()) room_ = buffer_.room(session_.needed_bytes());
    return boost::asio::buffer(room_.data(), room_.size());
  }

  /// Continues to read if there is room for the request.
  void read_on() {
    room_ = buffer_.room(session_.needed_bytes());
    if (!room_.empty()) return base::read();
    session_.refuse_request();
    is_ending_ = true;
    write();
  }

  void received(std::size_t count) override {
    buffer_.received(count);
    room_ = {};
    serve();
  }

  void hung_up() override {
    is_ending_ = true;
    if (!is_writing() && !is_suspended()) base::close();
  }

  [[nodiscard]] bool has_too_much_to_send() {
    const std::size_t most = all().settings().output_bytes;
    return base::unsent_bytes() + session_.output().size() >
           (is_unknown() ? std::min(most, stranger_output_bytes) : most);
  }

  /// Finished work is answered in any case; only new requests wait for room.
  void continue_serving() {
    session_.take_back();
    write();
    serve();
  }

  void serve() {
    while (!is_closed() && !is_suspended() && !is_ending_ && !is_reading() && !has_too_much_to_send()) {
      const bool was_in_request = session_.is_in_request();
      const session::progress p = session_.run(buffer_.unread());
      buffer_.use(p.used);
      // A suspended session belongs to a worker, which may already be done with it.
      if (p.outcome == session::state::suspended) return base::suspend();
      if (session_.is_in_request() && (!was_in_request || p.used > 0)) request_began_ = heard();
      if (p.outcome == session::state::ending) is_ending_ = true;
      write();
      if (p.outcome == session::state::wants_bytes && is_draining_) session_.stop_running();
      if (p.outcome == session::state::wants_bytes && !is_ending_) read_on();
      if (p.outcome == session::state::wants_bytes) break;
    }
    if (is_suspended()) return;
    if (!is_writing() && is_ending_) finish();
  }

  /// Everything is answered.
  void finish() {
    if (is_closed() || is_finishing_) return;
    is_finishing_ = true;
    base::part();
  }

  void write() {
    if (!is_writing() && !is_closed() && !session_.output().empty()) base::send(session_.output());
  }

  void sent() override {
    base::release_sent(kept_output_bytes);
    if (is_suspended()) return;  // the session's output belongs to the worker
    write();
    serve();
  }

  session session_;
  receive_buffer buffer_;
  std::span<char> room_{};  // in the buffer, for the next read
  connection::clock::time_point request_began_;
  bool is_ending_ = false;
  bool is_draining_ = false;
  connection::clock::time_point drain_began_{};
  bool is_finishing_ = false;
};

}  // namespace

void begin_resp_connection(loop& home, service& all, any_socket socket, const arrival& origin,
                           std::shared_ptr<client> who) {
  begin_connection<resp_connection>(home, all, std::move(socket), origin, std::move(who));
}

}  // namespace everseen::serve
