#include "everseen/redis/transport/byte_stream.hpp"

#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "everseen/core/base/error.hpp"

namespace everseen::redis {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using any_stream = asio::generic::stream_protocol;

namespace {

std::string advice_for(const error_code& code) {
  if (code == asio::error::connection_refused) return "; is the server running, and is this its port?";
  if (code == asio::error::host_not_found || code == asio::error::host_not_found_try_again)
    return "; is the name right?";
  return code == boost::system::errc::no_such_file_or_directory ? "; is the server running?" : "";
}

}  // namespace

// Asio calls the handlers of cancelled operations after close(), when the owner may be gone. So handlers own
// the socket, and do nothing once `user_` is null. A user may destroy the stream in any of its callbacks:
// after one, only `user_` is looked at.
/// The part that operations under way keep alive, with the buffers they use.
class byte_stream::socket : public std::enable_shared_from_this<socket> {
 public:
  socket(event_loop& loop, endpoint where, const tls_context* tls, user& serves)
      : where_(std::move(where)),
        user_(&serves),
        resolver_(loop.context()),
        attempt_timer_(loop),
        plain_(loop.context()) {
    if (tls == nullptr) return;
    SSL_CTX_up_ref(tls->get());
    context_.emplace(tls->get());
    encrypted_.emplace(plain_, *context_);
    tls_ = tls;
  }

  void open(std::chrono::milliseconds time_limit);
  void pump();
  void close() noexcept;

 private:
  /// A handler that does nothing once the stream is closed.
  template <typename Member>
  auto then(Member member) {
    return [self = shared_from_this(), member](const error_code& code, auto&&... more) {
      if (self->user_ != nullptr) std::invoke(member, self.get(), code, more...);
    };
  }

  void resolved(const error_code& code, const tcp::resolver::results_type& found);
  void connect_next(const error_code& last);
  void connected(const error_code& code);
  void shake_hands();
  void shook_hands(const error_code& code);
  void ready();
  void read();
  void read_done(const error_code& code, std::size_t bytes);
  void write_rest();
  void write_done(const error_code& code, std::size_t bytes);
  void fail(const std::string& tried, const error_code& code);

  endpoint where_;
  user* user_;  // null once closed
  tcp::resolver resolver_;
  std::vector<any_stream::endpoint> addresses_{};
  std::size_t next_address_ = 0;
  std::chrono::milliseconds time_limit_{};
  timer attempt_timer_;
  any_stream::socket plain_;
  const tls_context* tls_ = nullptr;
  std::optional<asio::ssl::context> context_{};
  std::optional<asio::ssl::stream<any_stream::socket&>> encrypted_{};
  bool ready_ = false;
  bool writing_ = false;
  std::span<const char> unwritten_{};
  std::array<char, 64 * 1024> in_;
  std::array<char, 64 * 1024> out_;
};

void byte_stream::socket::open(std::chrono::milliseconds time_limit) {
  time_limit_ = time_limit;
  if (!where_.unix_path.empty()) {
    addresses_.emplace_back(asio::local::stream_protocol::endpoint(where_.unix_path));
    return connect_next({});
  }
  error_code not_a_number;
  const auto address = asio::ip::make_address(where_.host, not_a_number);
  if (not_a_number)
    return resolver_.async_resolve(where_.host, std::to_string(where_.port), tcp::resolver::numeric_service,
                                   then(&socket::resolved));
  addresses_.emplace_back(tcp::endpoint(address, where_.port));
  connect_next({});
}

void byte_stream::socket::resolved(const error_code& code, const tcp::resolver::results_type& found) {
  if (code) return fail("cannot find the host", code);
  for (const auto& entry : found) addresses_.emplace_back(entry.endpoint());
  connect_next(asio::error::host_not_found);
}

/// A name may have several addresses, of which some may lead nowhere.
void byte_stream::socket::connect_next(const error_code& last) {
  if (next_address_ == addresses_.size()) return fail("cannot connect", last);
  error_code ignored;
  plain_.close(ignored);
  plain_.async_connect(addresses_[next_address_++], then(&socket::connected));
  if (next_address_ < addresses_.size())
    attempt_timer_.start(time_limit_ / addresses_.size(),
                         [this] { plain_.close(); });  // connected() gets the error
}

void byte_stream::socket::connected(const error_code& code) {
  attempt_timer_.stop();
  if (code) return connect_next(code);
  if (where_.unix_path.empty()) {
    error_code ignored;
    plain_.set_option(tcp::no_delay(true), ignored);
    plain_.set_option(asio::socket_base::keep_alive(true), ignored);
  }
  if (encrypted_) return shake_hands();
  ready();
}

void byte_stream::socket::shake_hands() {
  tls_->expect(encrypted_->native_handle(), where_.host);
  encrypted_->async_handshake(asio::ssl::stream_base::client, then(&socket::shook_hands));
}

void byte_stream::socket::shook_hands(const error_code& code) {
  if (!code) return ready();
  const std::string fault = tls_context::certificate_fault(encrypted_->native_handle());
  if (fault.empty()) return fail("cannot agree on TLS", code);
  user* const told = user_;
  close();
  told->broke({"its certificate is not accepted: " + fault +
                   "; set ca= to the trusted authority and server_name= to the expected name",
               true});
}

void byte_stream::socket::ready() {
  ready_ = true;
  read();
  pump();
}

void byte_stream::socket::read() {
  if (encrypted_)
    encrypted_->async_read_some(asio::buffer(in_), then(&socket::read_done));
  else
    plain_.async_read_some(asio::buffer(in_), then(&socket::read_done));
}

void byte_stream::socket::read_done(const error_code& code, std::size_t bytes) {
  if (code) return fail("the connection ended", code);
  user_->received({in_.data(), bytes});
  if (user_ != nullptr) read();
}

void byte_stream::socket::pump() {
  if (!ready_ || writing_ || user_ == nullptr) return;
  unwritten_ = std::span(out_).first(user_->fill(out_));
  if (!unwritten_.empty()) write_rest();
}

void byte_stream::socket::write_rest() {
  writing_ = true;
  const asio::const_buffer rest(unwritten_.data(), unwritten_.size());
  if (encrypted_)
    encrypted_->async_write_some(rest, then(&socket::write_done));
  else
    plain_.async_write_some(asio::const_buffers_1(rest), then(&socket::write_done));
}

void byte_stream::socket::write_done(const error_code& code, std::size_t bytes) {
  if (code) return;  // the read still receives the server's reason, and then fails as well
  unwritten_ = unwritten_.subspan(bytes);
  user_->wrote();
  if (user_ == nullptr) return;
  if (!unwritten_.empty()) return write_rest();
  writing_ = false;
  pump();
}

// Closed before the user hears of it, who may open another stream from there.
void byte_stream::socket::fail(const std::string& tried, const error_code& code) {
  user* const told = user_;
  close();
  const std::string reason = code == asio::error::eof ? "the server closed it" : code.message();
  told->broke({tried + ": " + reason + advice_for(code)});
}

void byte_stream::socket::close() noexcept {
  user_ = nullptr;
  error_code ignored;
  attempt_timer_.stop();
  resolver_.cancel();
  plain_.close(ignored);
}

byte_stream::byte_stream(event_loop& loop, const endpoint& where, const tls_context* tls, user& serves)
    : socket_(std::make_shared<socket>(loop, where, tls, serves)) {}

byte_stream::~byte_stream() {
  socket_->close();
}

void byte_stream::open(std::chrono::milliseconds time_limit) {
  socket_->open(time_limit);
}
void byte_stream::pump() {
  socket_->pump();
}

namespace {

std::string last_reason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : reason;
}

void require(bool done, const std::string& tried) {
  if (!done) throw parameter_error("cannot " + tried + ": " + last_reason());
}

void trust(SSL_CTX* context, const redis_url& url) {
  if (url.ca_file.empty())
    require(SSL_CTX_set_default_verify_paths(context) == 1, "read the certificates that this system trusts");
  else
    require(SSL_CTX_load_verify_locations(context, url.ca_file.c_str(), nullptr) == 1,
            "read the certificates in ca=" + url.ca_file);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
}

void present(SSL_CTX* context, const redis_url& url) {
  if (url.cert_file.empty()) return;
  require(SSL_CTX_use_certificate_chain_file(context, url.cert_file.c_str()) == 1,
          "read the certificate in cert=" + url.cert_file);
  require(SSL_CTX_use_PrivateKey_file(context, url.key_file.c_str(), SSL_FILETYPE_PEM) == 1,
          "use the key in key=" + url.key_file + " for the certificate in cert=" + url.cert_file);
}

}  // namespace

tls_context::tls_context(const redis_url& url)
    : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free), server_name_(url.server_name) {
  require(context_ != nullptr, "start OpenSSL");
  SSL_CTX_set_min_proto_version(get(), TLS1_2_VERSION);
  trust(get(), url);
  present(get(), url);
}

void tls_context::expect(ssl_st* session, const std::string& host) const {
  const std::string& name = server_name_.empty() ? host : server_name_;
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name.c_str()) == 1) return;
  ERR_clear_error();
  require(SSL_set1_host(session, name.c_str()) == 1, "look for the server name '" + name + "'");
  SSL_set_tlsext_host_name(session, name.c_str());
}

std::string tls_context::certificate_fault(ssl_st* session) {
  const long code = SSL_get_verify_result(session);
  return code == X509_V_OK ? "" : X509_verify_cert_error_string(code);
}

}  // namespace everseen::redis
