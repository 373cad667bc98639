#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::bench {

/// A redis-server for this program, on a TCP port of 127.0.0.1 and a Unix socket. It ends with the program,
/// even if that crashes (by setpriv, from util-linux).
class redis_server {
 public:
  /// @param more  additional configuration
  explicit redis_server(const std::vector<std::string>& more = {});
  ~redis_server();
  redis_server(const redis_server&) = delete;
  redis_server& operator=(const redis_server&) = delete;

  /// host:port
  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  [[nodiscard]] std::string url(const std::string& options = "") const {
    return "redis://" + address_ + "/" + options;
  }
  [[nodiscard]] std::string unix_url(const std::string& options = "") const {
    return "unix:" + folder_ + "/redis.sock" + options;
  }
  [[nodiscard]] redis::server_connections& connections() { return *connections_; }
  /// User and system time of the server so far, by INFO.
  [[nodiscard]] double cpu_seconds();
  void clear();

 private:
  std::string folder_;
  std::string address_;
  pid_t pid_ = -1;
  std::optional<redis::server_connections> connections_;
};

/// User and system time of this process so far.
[[nodiscard]] double own_cpu_seconds();
/// The same for the child programs that it has waited for.
[[nodiscard]] double children_cpu_seconds();

}  // namespace everseen::bench
