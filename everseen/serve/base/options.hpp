#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/telemetry/event_log.hpp"
#include "everseen/wire/request_parser.hpp"

namespace everseen::serve {

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

/// What a user may do. Each includes the ones before it.
enum class right : std::uint8_t {
  nothing,  ///< authenticate
  read,     ///< ask
  write,    ///< add keys; create and remove filters
  admin,    ///< stop the server, drop everything, end other clients, change its configuration
};

/// A user who may log in. A client that names none logs in as `default`.
struct user_account {
  std::string name;
  std::string password;
  right may = right::write;
};

/// Certificates of the listeners that use TLS.
struct tls_options {
  std::string cert_file;
  std::string key_file;
  std::string ca_file;  ///< if given, clients must present a certificate that this CA signed
};

/// All options in one place; the command line fills them in.
struct options {
  std::vector<listen_address> listen{};  ///< for the Redis protocol
  std::vector<listen_address> http{};    ///< for HTTP
  /// Host names that HTTP accepts on loopback addresses beside localhost: those that a proxy in front uses.
  std::vector<std::string> http_hosts{};
  tls_options tls{};
  std::vector<user_account> users{};  ///< empty: every client may do everything
  bool open_to_strangers = false;     ///< may listen for other machines without a password

  unsigned threads = 0;        ///< for connections; 0: one a processor
  unsigned store_threads = 8;  ///< for waiting on disks and servers

  std::size_t max_connections = 10'000;
  wire::request_limits request{};
  std::size_t requests_bytes = 256 << 20;    ///< for incomplete requests and MULTI, of all clients together
  std::size_t output_bytes = 64 << 20;       ///< for replies that a client does not read
  std::chrono::seconds idle_timeout{0};      ///< after which an idle client is disconnected; 0: never
  std::chrono::seconds request_timeout{60};  ///< for the rest of a request that has begun
  std::chrono::seconds write_timeout{60};    ///< for a client to take the next bytes of a reply
  std::chrono::seconds drain_timeout{10};    ///< for requests in progress when the server is stopped

  /// New filters get RedisBloom's layout: SCANDUMP exports them and EXPANSION is obeyed.
  bool redisbloom_layout = false;
  std::optional<std::uint64_t> max_memory_bytes{};  ///< for all filters; default: the store's room
  std::size_t batch_keys = 16'384;              ///< from several clients, in one batch to a store on servers
  std::shared_ptr<telemetry::event_log> log{};  ///< null: nothing is logged
  /// The text of /metrics in place of the server's own, from any thread. The server then has nothing else
  /// over HTTP, and anybody may read it.
  std::function<std::string()> metrics{};
};

/// Whether programs on other machines may be clients, directly or through a proxy. They may choose keys to
/// do harm, so new filters are hashed by siphash unless the client asks otherwise.
[[nodiscard]] bool is_open_to_others(const options& o);

/// @throws parameter_error  the options are invalid, or expose the server without a password
void must_be_safe(const options& o);

}  // namespace everseen::serve
