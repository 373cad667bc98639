#include "bench/timed_command.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/support.hpp"

extern char** environ;

namespace everseen::bench {

run_result run(const std::string& command) {
  const std::string report =
      (std::filesystem::temp_directory_path() / ("everseen-bench-" + std::to_string(getpid()))).string();
  std::array<std::string, 6> words = {"time", "--format=%U %S %M", "--output=" + report, "sh", "-c", command};
  std::array<char*, 7> arguments{};
  std::transform(words.begin(), words.end(), arguments.begin(), [](std::string& w) { return w.data(); });
  run_result result;
  int status = 0;
  result.seconds = seconds([&] {
    pid_t child = 0;
    require(posix_spawnp(&child, "time", nullptr, nullptr, arguments.data(), environ) == 0,
            "cannot start time(1)");
    require(waitpid(child, &status, 0) == child, "lost a child");
  });
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, command);
  double user = 0;
  double system = 0;
  double kilobytes = 0;
  std::ifstream(report) >> user >> system >> kilobytes;
  std::filesystem::remove(report);
  result.cpu_seconds = user + system;
  result.peak_megabytes = kilobytes * 1024 / 1e6;
  return result;
}

}  // namespace everseen::bench
