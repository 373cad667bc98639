#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "everseen/jobs/job.hpp"

namespace everseen::cli {

/// A job's metrics for Prometheus, at http://ADDRESS/metrics.    Threads: one at a time; scrapes run in
/// parallel.
class stream_metrics {
 public:
  /// @param address  ADDRESS:PORT to listen on, as serve::parse_listen_address, and only by TCP
  /// @throws parameter_error  invalid address    @throws storage_error  the port is taken
  stream_metrics(const std::string& address, const std::string& job_name);
  ~stream_metrics();
  stream_metrics(const stream_metrics&) = delete;
  stream_metrics& operator=(const stream_metrics&) = delete;

  /// Publishes the totals so far.
  void show(const job_result& result);
  /// A batch was settled this long after it was read.
  void settled(std::chrono::duration<double> after);

 private:
  struct families;
  std::unique_ptr<families> families_;
};

}  // namespace everseen::cli
