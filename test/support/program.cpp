#include "test/support/program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/support/child_environment.hpp"

namespace everseen::test {

namespace {

int checked(int result, const char* action) {
  if (result < 0) throw std::runtime_error(std::string(action) + ": " + std::strerror(errno));
  return result;
}

/// A pidfd: readable once the process has ended. In glibc 2.36 its header lacks extern "C".
int descriptor_of(pid_t process) {
  return checked(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)), "pidfd_open");
}

int file_in_memory() {
  return checked(memfd_create("everseen-test", MFD_CLOEXEC), "memfd_create");
}

int file_with(std::string_view text) {
  const int file = file_in_memory();
  for (std::size_t done = 0; done < text.size();)
    done += static_cast<std::size_t>(
        checked(static_cast<int>(
                    ::write(file, text.data() + done, std::min<std::size_t>(text.size() - done, 1 << 20))),
                "write"));
  ::lseek(file, 0, SEEK_SET);
  return file;
}

std::string content_of(int file) {
  std::string text;
  std::array<char, 65536> piece;
  for (;;) {
    const ssize_t got = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

/// In the child: runs the program, or exits like a shell if it does not exist.
[[noreturn]] void become(const exec_words& command, const exec_words& environment,
                         const std::filesystem::path& directory, const std::array<int, 3>& files) {
  for (int i = 0; i < 3; ++i) ::dup2(files[static_cast<std::size_t>(i)], i);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  if (!directory.empty() && ::chdir(directory.c_str()) != 0) std::_Exit(126);
  environ = const_cast<char**>(environment.get());  // execvp searches the PATH in it
  ::execvp(command.get()[0], command.get());
  std::_Exit(127);
}

}  // namespace

running_program::running_program(const std::vector<std::string>& command, const program_setup& setup)
    : out_(file_in_memory()), err_(file_in_memory()) {
  std::array<int, 2> pipe = {-1, -1};
  if (setup.piped_input)
    checked(::pipe2(pipe.data(), O_CLOEXEC), "pipe");
  else
    pipe[0] = file_with(setup.input);
  const exec_words words(command);
  const exec_words environment(environment_with({setup.environment.begin(), setup.environment.end()}));
  process_ = checked(::fork(), "fork");
  if (process_ == 0) become(words, environment, setup.directory, {pipe[0], out_, err_});
  end_ = descriptor_of(process_);
  ::close(pipe[0]);
  input_ = pipe[1];
}

running_program::~running_program() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  close_input();
  ::close(out_);
  ::close(err_);
  ::close(end_);
}

void running_program::write(std::string_view text) {
  if (::write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("the program does not read its input");
}

void running_program::close_input() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

void running_program::send(int signal) {
  if (const pid_t process = process_; process > 0) ::kill(process, signal);
}

std::string running_program::out() const {
  return content_of(out_);
}

std::string running_program::err() const {
  return content_of(err_);
}

bool running_program::waits_to_say(std::string_view text, std::chrono::seconds limit) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (out().find(text) == std::string::npos) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool running_program::has_ended() const {
  return ends_within(std::chrono::milliseconds(0));
}

bool running_program::ends_within(std::chrono::milliseconds limit) const {
  const auto until = std::chrono::steady_clock::now() + limit;
  pollfd end{end_, POLLIN, 0};
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    const int told = ::poll(&end, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (told >= 0 || errno != EINTR) return told != 0;
  }
}

bool running_program::waits_to_stop() const {
  siginfo_t told{};  // with WNOWAIT, wait() can still collect its exit status
  const auto process = static_cast<id_t>(process_.load());
  while (::waitid(P_PID, process, &told, WSTOPPED | WEXITED | WNOWAIT) != 0)
    if (errno != EINTR) return false;
  return told.si_code == CLD_STOPPED;
}

program_result running_program::wait(std::chrono::seconds limit) {
  // Its number would be -1, by which wait4() waits for any child.
  if (process_ < 0) throw std::logic_error("a program's end was waited for twice");
  program_result result;
  int status = 0;
  rusage usage{};
  if (!ends_within(limit)) {
    result.too_slow = true;
    send(SIGKILL);
  }
  while (::wait4(process_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  process_ = -1;
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
  result.out = content_of(out_);
  result.err = content_of(err_);
  return result;
}

program_result run_program(const std::vector<std::string>& command, const program_setup& setup) {
  return running_program(command, setup).wait();
}

}  // namespace everseen::test
