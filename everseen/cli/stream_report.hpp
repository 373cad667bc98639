#pragma once

#include <chrono>
#include <string>

#include "everseen/stream/job.hpp"

/// What is said of a job when it ends.
namespace everseen::cli {

/// One sentence, as in "10,000 events: 9,512 fresh, 488 seen".
[[nodiscard]] std::string job_summary(const job_result& result);

/// The counts of one run as JSON, with a newline.
[[nodiscard]] std::string job_stats(const job_result& result, std::chrono::duration<double> lasted);

}  // namespace everseen::cli
