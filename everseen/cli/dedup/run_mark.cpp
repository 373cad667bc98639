#include "everseen/cli/dedup/run_mark.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/time_text.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen::cli {

namespace {

/// The first line of a mark: always as long, so that it is overwritten in place.
std::string line_of(std::uint64_t lines) {
  return fmt::format("{:020} lines\n", lines);
}

std::filesystem::path directory_of_marks() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::filesystem::path(state) / "everseen" / "runs";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::filesystem::path(home) / ".local/state/everseen/runs";
  throw parameter_error("neither XDG_STATE_HOME nor HOME is the path of a directory");
}

/// @return nothing  no line was being printed, or the run was killed before it said so
std::optional<run_mark::lost_run> read_mark(const std::filesystem::path& path) {
  std::ifstream file(path);
  run_mark::lost_run lost;
  std::string unit;
  file >> lost.lines >> unit >> lost.began;
  if (!file || lost.lines == 0) return std::nullopt;
  return lost;
}

}  // namespace

run_mark::run_mark(std::string_view filter) {
  const std::filesystem::path directory = directory_of_marks();
  make_directories(disk::real(), directory);
  const std::string prefix = fmt::format("{:016x}.", checksum(std::as_bytes(std::span(filter))));
  take_others(directory, prefix);
  create_file(directory, prefix, filter);
}

run_mark::~run_mark() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

void run_mark::take_others(const std::filesystem::path& directory, std::string_view prefix) {
  std::error_code refused;
  const std::filesystem::directory_iterator entries(directory, refused);
  if (refused) throw disk_error("read", directory, refused.value());
  for (const auto& entry : entries) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    const auto lock = lock_file::try_take_existing(entry.path());
    if (!lock) continue;  // its run lives, or another run has taken it
    if (auto lost = read_mark(entry.path())) found_.push_back(*std::move(lost));
    ::unlink(entry.path().c_str());
  }
}

void run_mark::create_file(const std::filesystem::path& directory, std::string_view prefix,
                           std::string_view filter) {
  const auto current = std::chrono::system_clock::now();
  // A run that looks for marks may hold the lock for a moment, and remove the file.
  for (std::uint64_t attempt = 0; !lock_; ++attempt) {
    path_ = directory /
            fmt::format("{}{}.{}.{}", prefix, ::getpid(), current.time_since_epoch().count(), attempt);
    lock_ = lock_file::try_take(path_);
  }
  file_ = descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file_) throw disk_error("write", path_, errno);
  const std::string text = line_of(0) +
                           format_event_time(std::chrono::floor<std::chrono::milliseconds>(current)) + '\n' +
                           std::string(filter) + '\n';
  check_disk(disk::real().write(file_.get(), 0, std::as_bytes(std::span(text)), path_), "write", path_);
}

void run_mark::expect(std::uint64_t lines) {
  const std::string line = line_of(lines);
  check_disk(disk::real().write(file_.get(), 0, std::as_bytes(std::span(line)), path_), "write", path_);
}

}  // namespace everseen::cli
