#pragma once

#include <string>

namespace everseen::bench {

struct run_result {
  double seconds = 0;
  double cpu_seconds = 0;
  double peak_megabytes = 0;
};

/// Runs a shell command and waits for it. Its memory is measured by time(1): wait4 would include the memory
/// of this process, from which the child was forked.
run_result run(const std::string& command);

}  // namespace everseen::bench
