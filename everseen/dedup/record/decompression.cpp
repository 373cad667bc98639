#include "everseen/dedup/record/decompression.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/bad_record.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen {

namespace {

struct format {
  std::string_view beginning;  // ? stands for any byte
  const char* program;
};

constexpr std::array formats = {
    format{{"\x1f\x8b\x08", 3}, "gzip"},    format{{"\x28\xb5\x2f\xfd", 4}, "zstd"},
    format{"BZh?1AY&SY", "bzip2"},          format{{"\xfd\x37zXZ\0", 6}, "xz"},
    format{{"\x04\x22\x4d\x18", 4}, "lz4"},
};
constexpr std::size_t longest_beginning = 10;

enum class guess { no, perhaps, yes };

/// What the first bytes say about a format; `perhaps`: there are too few of them.
guess matches(const format& f, std::string_view first) {
  const std::size_t both = std::min(first.size(), f.beginning.size());
  for (std::size_t i = 0; i < both; ++i)
    if (f.beginning[i] != '?' && f.beginning[i] != first[i]) return guess::no;
  return both < f.beginning.size() ? guess::perhaps : guess::yes;
}

/// The bytes that a pipe has now, without taking them out of it. Empty at the end of what was written.
std::string waiting_in(int pipe) {
  int copy[2];
  if (::pipe2(copy, O_CLOEXEC) != 0) return {};
  const descriptor reader(copy[0]), writer(copy[1]);
  const ssize_t copied = ::tee(pipe, writer.get(), longest_beginning, 0);
  if (copied <= 0) return {};
  std::string bytes(static_cast<std::size_t>(copied), '\0');
  if (::read(reader.get(), bytes.data(), bytes.size()) != copied) return {};
  return bytes;
}

/// The first bytes of a file or a pipe; empty for everything else, such as a terminal.
std::string beginning_of(int from, const struct stat& about) {
  if (S_ISFIFO(about.st_mode)) return waiting_in(from);
  if (!S_ISREG(about.st_mode)) return {};
  std::string bytes(longest_beginning, '\0');
  const ssize_t got = ::pread(from, bytes.data(), bytes.size(), ::lseek(from, 0, SEEK_CUR));
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

bool has_ended(int pipe) {
  pollfd ended = {pipe, 0, 0};
  return ::poll(&ended, 1, 0) > 0 && (ended.revents & POLLHUP) != 0;
}

bool is_readable(int from) {
  constexpr int a_moment_ms = 100;
  pollfd readable = {from, POLLIN, 0};
  return ::poll(&readable, 1, a_moment_ms) > 0;
}

/// The format of an input, once there are enough bytes to tell.
const format* format_of(int from, const std::function<void()>& waiting) {
  struct stat about {};
  if (::fstat(from, &about) != 0) return nullptr;
  for (;;) {
    while (S_ISFIFO(about.st_mode) && !is_readable(from))
      if (waiting) waiting();
    const bool is_all = !S_ISFIFO(about.st_mode) || has_ended(from);
    const std::string first = beginning_of(from, about);
    if (first.empty()) return nullptr;
    bool perhaps = false;
    for (const format& f : formats) {
      const guess is_it = matches(f, first);
      if (is_it == guess::yes) return &f;
      perhaps = perhaps || is_it == guess::perhaps;
    }
    if (!perhaps || is_all) return nullptr;
    if (waiting) waiting();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Variables with options that could make a program pass over input in silence: XZ_OPT=--single-stream.
constexpr std::array<std::string_view, 5> options_of_programs = {
    "GZIP=", "BZIP=", "BZIP2=", "XZ_OPT=", "XZ_DEFAULTS="};

/// The environment of a child process: its standard input, output and error. It does not receive signals of
/// the terminal, which the parent handles.
class spawning {
 public:
  spawning(int input, int output, int messages) {
    for (char** variable = ::environ; *variable != nullptr; ++variable)
      if (std::ranges::none_of(options_of_programs, [&](std::string_view name) {
            return std::string_view(*variable).starts_with(name);
          }))
        variables_.push_back(*variable);
    variables_.push_back(nullptr);
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_adddup2(&files_, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, messages, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~spawning() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  spawning(const spawning&) = delete;
  spawning& operator=(const spawning&) = delete;

  /// @return 0, or an error number
  [[nodiscard]] int start(const char* program, pid_t& child) {
    std::string name = program, option = "-dc";
    char* const words[] = {name.data(), option.data(), nullptr};
    return ::posix_spawnp(&child, program, &files_, &attributes_, words, variables_.data());
  }

 private:
  std::vector<char*> variables_;
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

std::unique_ptr<decompression> decompression::of(int from, std::string name,
                                                 const std::function<void()>& waiting) {
  const format* const known = format_of(from, waiting);
  if (known == nullptr) return nullptr;
  return std::unique_ptr<decompression>(new decompression(known->program, from, std::move(name)));
}

bool decompression::recognises(int file) {
  return format_of(file, {}) != nullptr;
}

decompression::decompression(const char* program, int from, std::string name)
    : program_(program), name_(std::move(name)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw disk_error("decompress", name_, errno);
  decompressed_ = descriptor(ends[0]);
  const descriptor writer(ends[1]);
  // The first message counts: the others are lost when the pipe is full, and the program waits for no reader.
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw disk_error("decompress", name_, errno);
  messages_ = descriptor(ends[0]);
  const descriptor messages(ends[1]);
  if (const int fault = spawning(from, writer.get(), messages.get()).start(program_, child_); fault != 0) {
    child_ = 0;
    throw storage_error(name_ + " is compressed, and " + program_ + " cannot be started: " +
                            std::strerror(fault) + "; install it, or decompress the input",
                        fault, name_);
  }
  (void)::fcntl(decompressed_.get(), F_SETPIPE_SZ, 1 << 20);
}

decompression::~decompression() {
  if (child_ == 0) return;
  ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void decompression::must_be_whole(std::uint64_t text_bytes) {
  int status = 0;
  while (child_ != 0 && ::waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
  if (std::exchange(child_, 0) != 0) {
    message_ = first_message();
    // bzip2 passes over other bytes behind its last stream, says so, and ends with 0.
    is_whole_ =
        WIFEXITED(status) && WEXITSTATUS(status) == 0 && message_.find("garbage") == std::string::npos;
  }
  if (is_whole_) return;
  throw format_error(name_ + " is cut off or damaged, or other bytes follow its compressed part: after " +
                     std::to_string(text_bytes) + " bytes of text, " + program_ + " ended" +
                     (message_.empty() ? std::string() : " with " + quoted_text(message_)) +
                     "; what is not compressed must be read by itself");
}

/// The first line that the program has written, without its name.
std::string decompression::first_message() const {
  std::array<char, 1024> bytes;
  const ssize_t got = ::read(messages_.get(), bytes.data(), bytes.size());
  std::string_view text(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  constexpr std::string_view breaks = "\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(breaks), text.size()));
  text = text.substr(0, text.find_first_of(breaks));
  if (text.starts_with(std::string(program_) + ": ")) text.remove_prefix(std::strlen(program_) + 2);
  return std::string(text);
}

}  // namespace everseen
