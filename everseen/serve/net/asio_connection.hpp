#pragma once

#include <cstdint>
#include <memory>

#include <boost/asio/ssl/context.hpp>

#include "everseen/serve/net/asio_encrypted.hpp"
#include "everseen/serve/net/asio_loop.hpp"
#include "everseen/serve/service/client_list.hpp"
#include "everseen/serve/service/service.hpp"

namespace everseen::serve {

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

}  // namespace everseen::serve
