#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "everseen/serve/base/options.hpp"
#include "everseen/serve/net/asio_connection.hpp"
#include "everseen/serve/net/asio_loop.hpp"
#include "everseen/serve/service/service.hpp"

namespace everseen::serve {

/// One address that accepts clients, and distributes them to the loops in turn.
///
/// For a Unix socket, it removes the file that a dead server left, and its own at the end.
class listener {
 public:
  /// @param tls  null: not encrypted    @throws storage_error  the address is taken or unavailable
  listener(service& all, const std::vector<std::unique_ptr<loop>>& loops, const listen_address& where,
           protocol speaks, boost::asio::ssl::context* tls);
  ~listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  void begin();
  /// From any thread; no client is accepted once the loop has processed it.
  void stop();
  [[nodiscard]] const listen_address& address() const noexcept { return address_; }
  [[nodiscard]] protocol speaks() const noexcept { return arrival_.speaks; }

 private:
  using acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

  void accept();
  void take_in(any_socket socket, loop& home);
  void turn_away(any_socket& socket, const std::string& from);

  service& all_;
  const std::vector<std::unique_ptr<loop>>& loops_;
  listen_address address_;
  const arrival arrival_;
  acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::size_t next_ = 0;
};

}  // namespace everseen::serve
