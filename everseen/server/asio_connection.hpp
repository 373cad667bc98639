#pragma once

#include <memory>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>

#include "everseen/server/asio_loop.hpp"
#include "everseen/server/client_list.hpp"
#include "everseen/server/service.hpp"

namespace everseen::server {

using any_socket = boost::asio::generic::stream_protocol::socket;

/// Begins to serve a client, on the thread of the loop that its socket belongs to.
/// @param tls  null: not encrypted
void begin_connection(loop& home, service& all, any_socket socket, boost::asio::ssl::context* tls,
                      std::shared_ptr<client> who);

}  // namespace everseen::server
