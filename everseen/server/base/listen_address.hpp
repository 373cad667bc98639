#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace everseen::server {

/// An address on which a server listens.
struct listen_address {
  enum class kind : std::uint8_t { tcp, tls, unix_socket };
  kind is = kind::tcp;
  std::string host{};      ///< a numeric address
  std::uint16_t port = 0;  ///< 0: any free port
  std::string path{};      ///< of a Unix socket

  /// Whether only this machine can reach it.
  [[nodiscard]] bool is_local() const;
  /// As text: 127.0.0.1:6380, [::1]:6380, tls:0.0.0.0:6390, unix:/run/everseen.sock
  [[nodiscard]] std::string text() const;
};

/// Parses the output of text(). The host `localhost` is 127.0.0.1, and `*` every IPv4 address.
/// @throws parameter_error  says what is wrong
[[nodiscard]] listen_address parse_listen_address(std::string_view text);

}  // namespace everseen::server
