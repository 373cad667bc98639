#pragma once

#include <memory>
#include <type_traits>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>

/// How connections over TLS differ from others.
namespace everseen::serve {

using any_socket = boost::asio::generic::stream_protocol::socket;
using encrypted_socket = boost::asio::ssl::stream<any_socket>;

template <typename Stream>
inline constexpr bool is_encrypted = std::is_same_v<Stream, encrypted_socket>;

template <typename Stream>
any_socket& lowest(Stream& stream) {
  if constexpr (is_encrypted<Stream>)
    return stream.next_layer();
  else
    return stream;
}

/// Closes a connection whose answers were all sent. Over TLS it first sends close_notify, so that the client
/// can rule out truncation by others; the connection's timeout applies if that takes too long.
template <typename Connection, typename Stream>
void end_in_order(std::shared_ptr<Connection> c, Stream& stream) {
  if constexpr (is_encrypted<Stream>)
    stream.async_shutdown([c = std::move(c)](boost::system::error_code) { c->close(); });
  else
    c->close();
}

}  // namespace everseen::serve
