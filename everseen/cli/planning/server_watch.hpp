#pragma once

#include <string>
#include <vector>

#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::cli {

/// What all servers together have used so far.
struct server_use {
  double cpu_us = 0;
  double in_bytes = 0;
  double out_bytes = 0;

  friend server_use operator-(const server_use& a, const server_use& b) {
    return {a.cpu_us - b.cpu_us, a.in_bytes - b.in_bytes, a.out_bytes - b.out_bytes};
  }
};

/// The Redis servers of a URL, by what they report about themselves (INFO).
class server_watch {
 public:
  /// @throws parameter_error  the URL is invalid    @throws  as now
  explicit server_watch(const std::string& url);

  /// The difference of two results excludes the cost of asking.
  /// @throws backend_error  a server does not answer, refuses, or does not report its use
  [[nodiscard]] server_use now();

  /// The median round trip of the slowest server.    @throws  as now
  [[nodiscard]] double round_trip_us();

 private:
  std::vector<std::vector<redis::reply>> ask_all(const std::string& wire);
  server_use look();

  redis::server_connections session_;
  server_use cost_of_a_look_;
  int looks_ = 0;
};

}  // namespace everseen::cli
