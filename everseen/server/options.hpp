#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "everseen/server/listen_address.hpp"
#include "everseen/telemetry/event_log.hpp"
#include "everseen/wire/request_parser.hpp"

namespace everseen::server {

/// What a user may do. Each includes the ones before it.
enum class right : std::uint8_t {
  nothing,  ///< say who he is
  read,     ///< ask
  write,    ///< add keys; make and remove filters
  admin,    ///< stop the server, drop everything, end other clients, change its configuration
};

/// Who may log in. The user of a client that names none is `default`.
struct user_account {
  std::string name;
  std::string password;
  right may = right::write;
};

/// Certificates of the listeners that speak TLS.
struct tls_options {
  std::string cert_file;
  std::string key_file;
  std::string ca_file;  ///< if given, clients must show a certificate that it vouches for
};

/// Everything that can be configured, in one place: the command line fills it in.
struct options {
  std::vector<listen_address> listen{};  ///< for the Redis protocol
  std::vector<listen_address> http{};    ///< for HTTP
  /// By which names, beside localhost, HTTP is served on loopback addresses: those that a proxy in front
  /// uses.
  std::vector<std::string> http_hosts{};
  tls_options tls{};
  std::vector<user_account> users{};  ///< none: who can connect may do everything
  bool open_to_strangers = false;     ///< may listen beyond this machine without a password

  unsigned threads = 0;        ///< that serve connections; 0: one a processor
  unsigned store_threads = 8;  ///< that wait for disks and servers

  std::size_t max_connections = 10'000;
  wire::request_limits request{};
  std::size_t requests_bytes = 256 << 20;    ///< of requests under way and of MULTI, of all clients together
  std::size_t output_bytes = 64 << 20;       ///< replies kept for a client that does not fetch them
  std::chrono::seconds idle_timeout{0};      ///< a client that asks nothing is left after this; 0: never
  std::chrono::seconds request_timeout{60};  ///< for the rest of a request that has begun
  std::chrono::seconds write_timeout{60};    ///< for a client to take the next bytes of a reply
  std::chrono::seconds drain_timeout{10};    ///< for requests under way when the server is stopped

  /// Filters are made with RedisBloom's own layout: SCANDUMP gives them out and EXPANSION is obeyed.
  bool redisbloom_layout = false;
  std::optional<std::uint64_t> max_memory_bytes{};  ///< for all filters; default: what the store has room for
  std::size_t batch_keys = 16'384;  ///< of several clients, sent to a store that others keep at a time
  std::shared_ptr<telemetry::event_log> log{};  ///< null: nobody is told of anything
};

/// Whether clients may be others than programs of this machine: directly, or through a proxy. Their keys may
/// be chosen to do harm, so filters that they make are hashed by siphash unless they ask otherwise.
[[nodiscard]] bool is_open_to_others(const options& o);

/// @throws parameter_error  the options make no sense, or expose the server without a password
void must_be_safe(const options& o);

}  // namespace everseen::server
