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
    format{"BZh?1AY&SY", "bzip2"},          format{"BZh?\x17\x72\x45\x38\x50\x90", "bzip2"},  // of no text
    format{{"\xfd\x37zXZ\0", 6}, "xz"},     format{{"\x04\x22\x4d\x18", 4}, "lz4"},
    format{{"\x02\x21\x4c\x18", 4}, "lz4"},  // as lz4 -l writes it
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

/// The first bytes that a pipe has now, without taking them out of it. Empty at the end of what was written.
std::string waiting_in(int pipe, std::size_t most) {
  int copy[2];
  if (::pipe2(copy, O_CLOEXEC) != 0) return {};
  const descriptor reader(copy[0]), writer(copy[1]);
  const ssize_t copied = ::tee(pipe, writer.get(), most, 0);
  if (copied <= 0) return {};
  std::string bytes(static_cast<std::size_t>(copied), '\0');
  if (::read(reader.get(), bytes.data(), bytes.size()) != copied) return {};
  return bytes;
}

/// A file or a pipe, whose bytes can be looked at without reading them.
class examined_input {
 public:
  /// @pre fstat() has described it
  examined_input(int from, const struct stat& about)
      : from_(from), is_pipe_(S_ISFIFO(about.st_mode)), is_file_(S_ISREG(about.st_mode)) {}

  [[nodiscard]] bool is_pipe() const noexcept { return is_pipe_; }
  /// Whether it can have bytes there that may be looked at. A pipe has little room for what nobody reads.
  [[nodiscard]] bool reaches(std::uint64_t offset) const noexcept {
    constexpr std::size_t of_any_pipe = 4096;
    return !is_pipe_ || offset + longest_beginning <= of_any_pipe;
  }
  /// Those at an offset that are there by now; none for everything else, such as a terminal.
  /// @pre reaches(offset)
  [[nodiscard]] std::string beginning(std::uint64_t offset) const {
    if (is_pipe_) {
      const std::string all = waiting_in(from_, static_cast<std::size_t>(offset) + longest_beginning);
      return all.substr(std::min(all.size(), static_cast<std::size_t>(offset)));
    }
    if (!is_file_) return {};
    std::string bytes(longest_beginning, '\0');
    const ssize_t got =
        ::pread(from_, bytes.data(), bytes.size(), ::lseek(from_, 0, SEEK_CUR) + static_cast<off_t>(offset));
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return bytes;
  }

 private:
  int from_;
  bool is_pipe_, is_file_;
};

/// What an input begins with, as far as it is there.
struct look {
  guess is_it = guess::no;
  const format* known = nullptr;  // if it is one, or if nothing more comes
};

look look_for_format(std::string_view first) {
  look best;
  for (const format& f : formats) {
    const guess is_it = matches(f, first);
    if (is_it == guess::yes) return {is_it, &f};
    if (is_it == guess::perhaps) best.is_it = is_it;
  }
  return best;
}

/// A frame that zstd and lz4 pass over, as pzstd begins its output with: its length follows.
guess is_skippable(std::string_view first) {
  constexpr format behind_first_byte = {"?\x2a\x4d\x18????", ""};
  if (!first.empty() && (static_cast<unsigned char>(first.front()) & 0xf0U) != 0x50U) return guess::no;
  return matches(behind_first_byte, first);
}

std::uint64_t skippable_bytes(std::string_view frame) {
  constexpr std::size_t before_length = 4, header_bytes = 8;
  std::uint64_t bytes = header_bytes;
  for (unsigned i = 0; i < 4; ++i)
    bytes += std::uint64_t{static_cast<unsigned char>(frame[before_length + i])} << (8 * i);
  return bytes;
}

/// Behind skippable frames, a frame of lz4 is for lz4. All else is for zstd, which says what is wrong with
/// it.
look look_at(const examined_input& in) {
  constexpr unsigned most_frames = 100;
  const look zstd = look_for_format("\x28\xb5\x2f\xfd");
  std::uint64_t offset = 0;
  for (unsigned frames = 0; frames < most_frames && in.reaches(offset); ++frames) {
    const std::string first = in.beginning(offset);
    if (first.empty() && offset == 0) return {};
    const guess goes_on = is_skippable(first);
    if (goes_on == guess::yes) {
      offset += skippable_bytes(first);
      continue;
    }
    look found = look_for_format(first);
    const bool is_too_short = goes_on == guess::perhaps || found.is_it == guess::perhaps;
    if (offset > 0 && (found.known == nullptr || found.known->program != std::string_view("lz4")))
      found = zstd;
    if (is_too_short) found.is_it = guess::perhaps;
    return found;
  }
  return zstd;
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
  const examined_input in(from, about);
  for (;;) {
    while (in.is_pipe() && !is_readable(from))
      if (waiting) waiting();
    const bool is_all = !in.is_pipe() || has_ended(from);
    const look found = look_at(in);
    if (found.is_it != guess::perhaps || is_all) return found.known;
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
