#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace everseen::redis {

/// By which commands the keys of another program's filter are judged: attached_task.hpp.
enum class command_kind : std::uint8_t { script, bitfield };

/// One server: a host and port, or a Unix socket.
struct endpoint {
  std::string host{};
  std::uint16_t port = 6379;
  std::string unix_path{};  ///< not empty: a Unix socket, host and port unused
  friend auto operator<=>(const endpoint&, const endpoint&) = default;
};

/// 1 GiB, or a quarter of the machine's memory where that is less.
[[nodiscard]] std::uint64_t default_mirror_bytes() noexcept;

/// All settings of a URL.
///
///     redis://[user:password@]host[:port][/db][?options]     one instance
///     redis://h1:p1,h2:p2,...                                independent instances; the partition picks one
///     redis+cluster://h1:p1,h2:p2,...                        a cluster, found from any of these
///     rediss://, rediss+cluster://                           the same over TLS
///     unix:/path.sock[?options]                              a Unix socket; several, separated by commas
///
/// Options, separated by &: connect_timeout, timeout, retry_for (500ms, 5s, 1m); commands; prefix; segment
/// (1Mi..512Mi bytes); mirror (bytes of memory for a filter that its clients judge); wait (replicas that must
/// have a batch before it is acknowledged); ca, cert, key (PEM files), server_name, db, user, password. Bytes
/// may be written as %XX; in a password, the bytes @ / ? , & and % must be. IPv6 addresses are written in
/// brackets.
struct redis_url {
  enum class topology : std::uint8_t { one, many, cluster };

  topology shape = topology::one;
  bool is_everseen = false;  ///< the server is `everseen serve`, not Redis
  std::vector<endpoint> endpoints{};
  std::string user{};
  std::string password{};
  unsigned db = 0;

  bool tls = false;
  std::string ca_file{};  ///< default: the system's
  std::string cert_file{};
  std::string key_file{};
  std::string server_name{};  ///< default: the host

  std::chrono::milliseconds connect_timeout{2'000};
  std::chrono::milliseconds timeout{5'000};  ///< the longest time without a byte in either direction
  /// How long calls are retried in an outage before it is reported. See retry_unless_told.
  std::chrono::milliseconds retry_for{10'000};
  std::optional<command_kind> commands{};  ///< of attached filters; default: scripts, if the server runs them
  std::string prefix = "everseen";
  unsigned wait_replicas = 0;
  /// The memory of this process for the bits of a filter that its clients judge.
  std::uint64_t mirror_bytes = default_mirror_bytes();
  /// For filters that clients judge: the maximum age of a client's copy in look-ups, which may miss newer
  /// keys of other clients.
  std::chrono::milliseconds staleness{0};

  friend bool operator==(const redis_url&, const redis_url&) = default;
};

/// The default of retry_for. A cluster replaces a lost master only after its cluster-node-timeout, 15 s
/// unless configured, and an election; therefore it is twice as long there.
[[nodiscard]] std::chrono::milliseconds retry_unless_told(redis_url::topology shape) noexcept;

/// @throws parameter_error  names the part of the URL that is wrong; never shows the password
[[nodiscard]] redis_url parse_redis_url(std::string_view url);

/// A URL of `everseen serve`, of one server:
///
///     everseen://[user:password@]host[:port][/db][?options]     the port is 6380 unless stated
///     everseens://                                              the same over TLS
///     everseen+unix:/path.sock[?options]
///
/// Options: connect_timeout, timeout, retry_for, ca, cert, key, server_name, db, user, password.
/// @throws parameter_error  as parse_redis_url
[[nodiscard]] redis_url parse_everseen_url(std::string_view url);

/// Whether a URL begins like those of Redis, or of `everseen serve`.
[[nodiscard]] bool is_redis_url(std::string_view url) noexcept;
[[nodiscard]] bool is_everseen_url(std::string_view url) noexcept;

/// host:port, [address]:port or unix:/path, for messages.
[[nodiscard]] std::string to_string(const endpoint& e);

/// The URL without user and password, for messages. Parsing it gives everything else.
[[nodiscard]] std::string to_string(const redis_url& url);

/// A server of the URL, for messages: `redis at host:port` or `everseen at host:port`.
[[nodiscard]] std::string name_of_server(const redis_url& url, const endpoint& e);

/// The URL with less patience: a server that is silent at the first attempt gets a second one.
/// @param timeout  how long to wait in all; nothing: as the URL says
[[nodiscard]] redis_url answered_within(redis_url url, std::optional<std::chrono::milliseconds> timeout);

/// The options of URLs: the part after the question mark.

/// @param given  the options that the URL has stated already    @throws parameter_error  as parse_redis_url
void read_options(redis_url& url, std::string_view rest, std::set<std::string_view> given);

/// The option `db`; a URL may also state the database after the host.
inline constexpr std::string_view database_option = "db";
/// @throws parameter_error  it is not a number
void read_database(redis_url& url, std::string_view value);

/// The options that differ from the default, with the question mark; without secrets.
[[nodiscard]] std::string options_of(const redis_url& url);

}  // namespace everseen::redis
