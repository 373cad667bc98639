#pragma once

#include <string>
#include <vector>

#include "everseen/redis/transport/session.hpp"

namespace everseen::cli {

/// What servers have used so far, all together.
struct server_use {
  double cpu_us = 0;
  double in_bytes = 0;
  double out_bytes = 0;

  friend server_use operator-(const server_use& a, const server_use& b) {
    return {a.cpu_us - b.cpu_us, a.in_bytes - b.in_bytes, a.out_bytes - b.out_bytes};
  }
};

/// The Redis servers of a URL, by what they tell of themselves (INFO).
class server_watch {
 public:
  /// @throws parameter_error  the URL makes no sense    @throws  as now
  explicit server_watch(const std::string& url);

  /// The difference of two does not hold the cost of looking.
  /// @throws backend_error  a server does not answer, refuses, or does not say what it has used
  [[nodiscard]] server_use now();

  /// Of the slowest server, the middle of many.    @throws  as now
  [[nodiscard]] double round_trip_us();

 private:
  std::vector<std::vector<redis::reply>> ask_all(const std::string& wire);
  server_use look();

  redis::session session_;
  server_use cost_of_a_look_;
  int looks_ = 0;
};

}  // namespace everseen::cli
