#pragma once

#include <chrono>
#include <string>

#include "everseen/jobs/job.hpp"

/// What is printed about a job when it ends.
namespace everseen::cli {

/// One sentence, as in "10,000 events: 9,512 fresh, 488 seen".
[[nodiscard]] std::string job_summary(const job_result& result);

/// A warning that events lack fields which the job counts by, and how to start over if that was a mistake.
[[nodiscard]] std::string absence_warning(const job_result& result, const std::string& filter,
                                          const std::string& job);

/// The counts of one run as JSON, with a newline.
[[nodiscard]] std::string job_stats(const job_result& result, std::chrono::duration<double> lasted);

}  // namespace everseen::cli
