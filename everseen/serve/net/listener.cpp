#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/net/asio_connection.hpp"
#include "everseen/serve/net/asio_listener.hpp"

namespace everseen::serve {

namespace {

namespace asio = boost::asio;
using any_stream = asio::generic::stream_protocol;
using boost::system::error_code;

any_stream::endpoint endpoint_of(const listen_address& where) {
  if (where.is == listen_address::kind::unix_socket) {
    if (where.path.size() >= sizeof(sockaddr_un::sun_path))
      throw parameter_error("the path of the Unix socket '" + where.path + "' is too long for the system");
    return asio::local::stream_protocol::endpoint(where.path);
  }
  return asio::ip::tcp::endpoint(asio::ip::make_address(where.host), where.port);
}

/// A socket file on which nothing listens is left from a killed server.
void remove_dead_socket(const listen_address& where, asio::io_context& context) {
  struct stat file {};
  if (::lstat(where.path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return;
  asio::local::stream_protocol::socket probe(context);
  error_code fault;
  probe.connect(where.path, fault);
  if (fault == asio::error::connection_refused) ::unlink(where.path.c_str());
}

/// @pre  e is not a Unix socket
asio::ip::tcp::endpoint tcp_endpoint_of(const any_stream::endpoint& e) {
  asio::ip::tcp::endpoint address;
  std::memcpy(address.data(), e.data(), e.size());
  return address;
}

std::string text_of(const any_stream::endpoint& e) {
  if (e.data()->sa_family == AF_UNIX) return "unix:0";
  const asio::ip::tcp::endpoint address = tcp_endpoint_of(e);
  const std::string ip = address.address().to_string();
  const bool six = address.address().is_v6();
  return (six ? "[" + ip + "]" : ip) + ":" + std::to_string(address.port());
}

/// A client with one IPv6 address has 2^64 of them.
std::string network_of(const any_stream::endpoint& e) {
  if (e.data()->sa_family == AF_UNIX) return "unix";
  const asio::ip::address address = tcp_endpoint_of(e).address();
  if (address.is_v4()) return address.to_string();
  const asio::ip::address_v6 six = address.to_v6();
  if (six.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, six).to_string();
  auto bytes = six.to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  return asio::ip::address_v6(bytes).to_string();
}

}  // namespace

listener::listener(service& all, const std::vector<std::unique_ptr<loop>>& loops, const listen_address& where,
                   protocol speaks, asio::ssl::context* tls)
    : all_(all),
      loops_(loops),
      address_(where),
      arrival_{speaks, tls, where.is != listen_address::kind::unix_socket && where.is_local()},
      acceptor_(loops.front()->context()),
      pause_(loops.front()->context()) {
  const auto endpoint = endpoint_of(where);
  const bool is_unix = where.is == listen_address::kind::unix_socket;
  if (is_unix) remove_dead_socket(where, loops.front()->context());
  error_code fault;
  acceptor_.open(endpoint.protocol(), fault);
  if (!fault && !is_unix) acceptor_.set_option(asio::socket_base::reuse_address(true), fault);
  if (!fault) acceptor_.bind(endpoint, fault);
  if (!fault) acceptor_.listen(asio::socket_base::max_listen_connections, fault);
  if (fault)
    throw storage_error("cannot listen on " + where.text() + ": " + fault.message(), fault.value(),
                        where.text());
  if (is_unix || where.port != 0) return;
  address_.port = tcp_endpoint_of(acceptor_.local_endpoint()).port();
}

listener::~listener() {
  if (address_.is == listen_address::kind::unix_socket) ::unlink(address_.path.c_str());
}

void listener::begin() {
  asio::post(loops_.front()->context(), [this] { accept(); });
}

void listener::stop() {
  asio::post(loops_.front()->context(), [this] {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  });
}

void listener::accept() {
  loop& home = *loops_[next_++ % loops_.size()];
  acceptor_.async_accept(home.context(), [this, &home](error_code fault, any_stream::socket socket) {
    if (fault == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (!fault) {
      take_in(std::move(socket), home);
      return accept();
    }
    // Most likely no descriptors are left: retry after a pause.
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this](error_code stopped) {
      if (!stopped) accept();
    });
  });
}

void listener::turn_away(any_socket& socket, const std::string& from) {
  all_.count.refused_connections.fetch_add(1, std::memory_order_relaxed);
  all_.log(telemetry::log_level::warning, "connection_refused",
           {{"why", "max_connections"}, {"from", from}, {"at", address_.text()}});
  if (arrival_.tls != nullptr) return;  // before the handshake, the client would not understand a message
  constexpr std::string_view resp = "-ERR max number of clients reached\r\n";
  constexpr std::string_view http =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  const std::string_view text = arrival_.speaks == protocol::http ? http : resp;
  error_code fault;
  socket.non_blocking(true, fault);
  socket.write_some(asio::buffer(text), fault);
}

void listener::take_in(any_socket socket, loop& home) {
  all_.count.connections.fetch_add(1, std::memory_order_relaxed);
  error_code fault;
  const auto remote = socket.remote_endpoint(fault);
  if (fault) return;  // already disconnected
  if (all_.clients().size() >= all_.tunable.max_connections) return turn_away(socket, text_of(remote));
  auto who = std::make_shared<client>();
  const auto local = socket.local_endpoint(fault);
  if (fault) return;
  who->address = text_of(remote);
  who->network = network_of(remote);
  who->local_address = text_of(local);
  who->since_ms = service::now().time_since_epoch().count();
  who->last_request_ms = who->since_ms;
  if (address_.is != listen_address::kind::unix_socket) {
    socket.set_option(asio::ip::tcp::no_delay(true), fault);
    socket.set_option(asio::socket_base::keep_alive(true), fault);
  }
  asio::post(home.context(), [this, &home, who = std::move(who), s = std::move(socket)]() mutable {
    if (home.is_draining()) return;
    (arrival_.speaks == protocol::http ? begin_http_connection : begin_resp_connection)(
        home, all_, std::move(s), arrival_, std::move(who));
  });
}

}  // namespace everseen::serve
