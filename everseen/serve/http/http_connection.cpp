#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_dynamic_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include "everseen/serve/http/http_message.hpp"
#include "everseen/serve/http/http_routes.hpp"
#include "everseen/serve/net/asio_connection.hpp"

namespace everseen::serve {

namespace {

namespace http = boost::beast::http;

std::string_view plain(boost::beast::string_view text) noexcept {
  return {text.data(), text.size()};
}

http_method method_of(http::verb verb) noexcept {
  switch (verb) {
    case http::verb::get:
      return http_method::get;
    case http::verb::head:
      return http_method::head;
    case http::verb::post:
      return http_method::post;
    case http::verb::delete_:
      return http_method::del;
    default:
      return http_method::other;
  }
}

/// Whether gzip is among the codings of Accept-Encoding, with a weight above 0.
bool takes_gzip(std::string_view codings) {
  constexpr std::string_view gzip = "gzip";
  for (const auto& coding : http::ext_list({codings.data(), codings.size()})) {
    if (!boost::beast::iequals(coding.first, {gzip.data(), gzip.size()})) continue;
    return std::all_of(coding.second.begin(), coding.second.end(), [](const auto& parameter) {
      return parameter.second.find_first_not_of("0.") != boost::beast::string_view::npos;
    });
  }
  return false;
}

using parsed_head = http::request_header<http::fields>;

http_request head_of(const parsed_head& parsed, const arrival& arrived) {
  const auto field = [&](http::field name) { return std::string(plain(parsed[name])); };
  http_request r;
  r.method = method_of(parsed.method());
  r.target = plain(parsed.target());
  r.host = field(http::field::host);
  r.origin = field(http::field::origin);
  r.fetch_site = plain(parsed["Sec-Fetch-Site"]);
  r.content_type = field(http::field::content_type);
  r.authorization = field(http::field::authorization);
  r.none_match = field(http::field::if_none_match);
  r.takes_gzip = takes_gzip(plain(parsed[http::field::accept_encoding]));
  r.is_old = parsed.version() < 11;
  r.by_loopback = arrived.by_loopback;
  return r;
}

/// Refuses requests that a proxy in front may split differently (request smuggling), or send to another host.
/// @param chunked  whether the body was parsed as chunked
/// @throws http_problem
void must_be_unambiguous(const parsed_head& parsed, bool chunked) {
  if (parsed.count(http::field::host) > 1)
    throw http_problem{400, "bad_request", "the request names more than one Host"};
  if (parsed.count(http::field::transfer_encoding) == 0) return;
  if (!chunked || parsed.version() < 11 || parsed.count(http::field::content_length) > 0)
    throw http_problem{400, "bad_request", "the only Transfer-Encoding is chunked, once, in HTTP/1.1"};
}

/// Whether the client waits for 100 Continue before it sends its body.
bool expects_continue(const parsed_head& parsed) {
  return boost::beast::iequals(parsed[http::field::expect], "100-continue");
}

/// No operation that needs no right reads a body, and anybody may send one.
constexpr std::uint64_t stranger_body_bytes = wire::stranger_limits.request_bytes;

http_problem too_large_for_strangers() {
  return {413, "too_large", "a request that needs no password may have at most 64 KiB"};
}

/// The problem for bytes that are not a valid request.
http_problem problem_of(const boost::system::error_code& fault) {
  if (fault == http::error::body_limit)
    return {413, "too_large",
            "the request has more bytes than --max-request allows; send fewer keys at a time"};
  if (fault == http::error::header_limit)
    return {431, "header_too_large",
            "the head of the request, the line of a chunk, or the trailers have more than 16 KiB"};
  return {400, "bad_request", "this is not a valid HTTP request: " + fault.message()};
}

/// A body grows as bytes arrive, never by an announced length.
using growing_body = http::basic_dynamic_body<boost::beast::flat_buffer>;
using request_parser = http::request_parser<growing_body>;

/// Read sizes. An idle connection keeps little memory.
constexpr std::size_t head_read_bytes = 4 << 10;
constexpr std::size_t body_read_bytes = 64 << 10;
/// For the head, and for what frames a chunk: its line, or the trailers.
constexpr std::uint32_t head_bytes = 16 << 10;
/// How long a connection is kept alive between requests if no idle timeout is configured.
constexpr std::chrono::seconds keep_alive{75};
/// After a refusal, further input is discarded for this long, so that the client can read the reason.
constexpr std::chrono::seconds lingering{2};

/// Moves requests and answers between a socket and the interface, one after the other.
///
/// While a worker answers, nothing is read: later requests wait.
template <typename Stream>
class http_connection final : public client_connection<Stream> {
  using base = client_connection<Stream>;
  using base::all, base::is_closed, base::is_suspended, base::is_writing, base::read;
  using clock = connection::clock;

 public:
  template <typename... Arguments>
  http_connection(loop& home, service& common, std::shared_ptr<client> who, const arrival& origin,
                  Arguments&&... stream)
      : base(home, common, std::move(who), std::forward<Arguments>(stream)...),
        arrival_(origin),
        body_(common.requests()) {
    base::who().last_command = "http";
    begin_request();
  }

  void look_at_clock(clock::time_point current_time) override {
    if (is_suspended()) return;
    const auto is_over = [&](auto since, std::chrono::seconds limit) {
      return base::exceeds(current_time - since, limit);
    };
    const auto& limits = all().settings();
    if (is_writing() || is_lingering_) {
      if (is_over(base::wrote(), is_writing() ? limits.write_timeout : lingering)) base::close();
    } else if (is_in_request()) {
      if (is_over(arrived_, limits.request_timeout))
        refuse({408, "request_timeout", "the rest of the request did not arrive in time"}, is_rest_known::no);
    } else if (is_over(arrived_, is_known_ ? idle_timeout() : limits.request_timeout)) {
      base::close();
    }
  }

  void drain() override {
    is_draining_ = true;
    if (!is_suspended() && !is_writing()) base::close();
  }

 private:
  [[nodiscard]] bool is_in_request() const { return parser_->got_some() || buffer_.size() > 0; }

  [[nodiscard]] std::chrono::seconds idle_timeout() const {
    const std::chrono::seconds asked(all().tunable.idle_timeout_s);
    return asked.count() > 0 ? asked : keep_alive;
  }

  void begin_request() {
    parser_.emplace();
    parser_->header_limit(head_bytes);
    parser_->body_limit(all().settings().request.request_bytes);
    admitted_.reset();
    head_ = {};
    head_used_ = 0;
    body_.give_back();
    if (buffer_.size() == 0 && buffer_.capacity() > 2 * head_read_bytes && !base::is_reading()) buffer_ = {};
    arrived_ = clock::now();
  }

  boost::asio::mutable_buffer room() override {
    return buffer_.prepare(parser_->is_header_done() ? body_read_bytes : head_read_bytes);
  }

  void received(std::size_t count) override {
    if (is_lingering_) return read();  // discarded
    if (!is_in_request()) arrived_ = base::heard();
    buffer_.commit(count);
    serve();
  }

  void hung_up() override {
    is_draining_ = true;
    if (!is_writing() && !is_suspended()) base::close();
  }

  /// Parses the received bytes, up to the end of one request.
  void serve() {
    while (!is_closed() && !is_suspended() && !is_writing() && !is_lingering_) {
      if (parser_->is_done()) return run();
      if (buffer_.size() == 0) return read();
      const boost::system::error_code fault = parse();
      if (fault && fault != http::error::need_more)
        return refuse(fault == http::error::body_limit && is_for_strangers() ? too_large_for_strangers()
                                                                             : problem_of(fault),
                      is_rest_known::no);
      if (!has_room_for_body()) return;
      if (fault) return read();
      if (parser_->is_header_done() && !admitted_ && !is_admitted()) return;
    }
  }

  /// The parser takes bodies as they come, and waits for the end of all else. It limits neither the lines of
  /// chunks and their trailers, nor a head whose fields arrive one by one: their bytes are counted here.
  boost::system::error_code parse() {
    boost::system::error_code fault;
    const std::size_t used = parser_->put(buffer_.data(), fault);
    buffer_.consume(used);
    head_used_ = parser_->is_header_done() ? 0 : head_used_ + used;
    if (fault == http::error::need_more && head_used_ + buffer_.size() > head_bytes)
      fault = http::error::header_limit;
    return fault;
  }

  /// Many connections hold bodies at the same time, each for as long as its client likes.
  bool has_room_for_body() {
    if (body_.hold(parser_->get().body().size())) return true;
    refuse({503,
            "busy",
            "the requests of all clients use all the memory that they may use (--max-bodies); retry soon, or "
            "send fewer keys at a time",
            {{"Retry-After", "1"}}},
           is_rest_known::no);
    return false;
  }

  /// Decides by the head alone.
  bool is_admitted() {
    head_ = head_of(parser_->get(), arrival_);
    head_.from = base::who().address;
    head_.network = base::who().network;
    head_.known = user_;
    try {
      must_be_unambiguous(parser_->get(), parser_->chunked());
      admitted_ = admit(all(), head_);
      is_known_ = is_known_ || !is_for_strangers();
      if (admitted_->user != nullptr) user_ = admitted_->user;
      if (is_for_strangers()) limit_body_of_stranger();
    } catch (const http_problem& p) {
      return refuse(p, parser_->is_done() ? is_rest_known::yes : is_rest_known::no), false;
    }
    if (expects_continue(parser_->get())) write("HTTP/1.1 100 Continue\r\n\r\n");
    return !is_writing();
  }

  /// Whether the current request was admitted without a right.
  [[nodiscard]] bool is_for_strangers() const {
    return admitted_ && admitted_->route->needs == right::nothing;
  }

  /// The parser compares an announced length with its limit only when the head ends, so this does it again.
  /// @throws http_problem
  void limit_body_of_stranger() {
    if (parser_->content_length().value_or(0) > stranger_body_bytes) throw too_large_for_strangers();
    parser_->body_limit(stranger_body_bytes);
  }

  void run() {
    base::who().last_command.store(admitted_->route->label, std::memory_order_relaxed);
    const auto body = parser_->get().body().data();
    head_.body = {static_cast<const char*>(body.data()), body.size()};
    if (admitted_->route->place == runs::at_once)
      return answer(all(), *admitted_, head_, [this](const http_response& r) { reply(r, keeps_alive()); });
    base::suspend();
    worker_pool& pool = admitted_->route->place == runs::aside ? all().asides() : all().workers();
    pool.submit([this] {
      answer(all(), *admitted_, head_, [this](http_response r) noexcept {
        base::resume([this, r = std::move(r)] { reply(r, keeps_alive()); });
      });
    });
  }

  [[nodiscard]] bool keeps_alive() const { return parser_->get().keep_alive() && !is_draining_; }

  /// Whether a refused request was read to its end, so that the next one can be found.
  enum class is_rest_known : bool { no, yes };
  void refuse(const http_problem& p, is_rest_known rest) {
    must_linger_ = rest == is_rest_known::no;
    reply(response_of(p), !must_linger_ && p.status != 400 && keeps_alive());
  }

  void reply(const http_response& r, bool keep) {
    const http_route* const route = admitted_ ? admitted_->route : route_of(all(), head_);
    all().http_requests().note(
        {route == nullptr ? std::string_view() : route->pattern, name_of(head_.method), r.status});
    all().http_took().note(clock::now() - arrived_);
    is_last_ = !keep;
    const bool with_body = head_.method != http_method::head;
    begin_request();
    write(encoded(r, with_body, keep));
  }

  void write(std::string bytes) { base::send(bytes); }

  void sent() override {
    base::release_sent(0);
    if (is_last_ || is_draining_) return end();
    serve();
  }

  void end() {
    is_lingering_ = true;
    if (!must_linger_) return base::part();
    base::stop_sending();
    buffer_.clear();
    read();
  }

  const arrival arrival_;
  boost::beast::flat_buffer buffer_{};
  std::optional<request_parser> parser_{};
  http_request head_{};
  std::size_t head_used_ = 0;  // bytes of an incomplete head that the parser has taken
  std::optional<admitted_request> admitted_{};
  byte_budget::share body_;
  clock::time_point arrived_{};         // the first byte of a request, or the end of the one before it
  const user_account* user_ = nullptr;  // the last authenticated user
  bool is_known_ = false;               // a request was admitted that needs a right, unlike the health check
  bool is_last_ = false;                // the connection ends after the current answer
  bool must_linger_ = false;
  bool is_lingering_ = false;
  bool is_draining_ = false;
};

}  // namespace

void begin_http_connection(loop& home, service& all, any_socket socket, const arrival& origin,
                           std::shared_ptr<client> who) {
  begin_connection<http_connection>(home, all, std::move(socket), origin, std::move(who));
}

}  // namespace everseen::serve
