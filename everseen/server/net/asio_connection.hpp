#pragma once

#include <cstdint>
#include <memory>

#include <boost/asio/ssl/context.hpp>

#include "everseen/server/net/asio_encrypted.hpp"
#include "everseen/server/net/asio_loop.hpp"
#include "everseen/server/service/client_list.hpp"
#include "everseen/server/service/service.hpp"

namespace everseen::server {

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

}  // namespace everseen::server
