#include "bench/served.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/support.hpp"

extern char** environ;

namespace everseen::bench {

namespace {

int connect_to(const std::string& path) {
  const int s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, path.c_str(), sizeof at.sun_path - 1);
  if (::connect(s, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) return s;
  ::close(s);
  return -1;
}

int connect_to(std::uint16_t port) {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  const int yes = 1;
  if (::connect(s, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
      ::setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0)
    return s;
  ::close(s);
  return -1;
}

void use(const std::vector<unsigned>& which) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned each : which) CPU_SET(each, &set);
  require(::sched_setaffinity(0, sizeof set, &set) == 0, "processors cannot be chosen");
}

}  // namespace

std::vector<unsigned> processors() {
  static const std::vector<unsigned> all = [] {
    cpu_set_t set;
    require(::sched_getaffinity(0, sizeof set, &set) == 0, "processors are not known");
    std::vector<unsigned> found;
    for (unsigned i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) found.push_back(i);
    return found;
  }();
  return all;
}

on_processor::on_processor(unsigned which) {
  (void)processors();  // the set before this change
  use({which});
}

on_processor::~on_processor() {
  use(processors());
}

served::served(const std::string& store, const std::vector<std::string>& more,
               const std::vector<std::string>& launcher)
    : port_(free_port()) {
  folder_ = (std::filesystem::temp_directory_path() / "everseen-serve-XXXXXX").string();
  require(mkdtemp(folder_.data()) != nullptr, "no temporary folder");
  std::vector<std::string> words = {"setpriv", "--pdeathsig", "TERM"};
  words.insert(words.end(), launcher.begin(), launcher.end());
  words.insert(words.end(), {EVERSEEN_PROGRAM, "serve", "--quiet", "--store", store, "--listen",
                             "unix:" + path(), "--listen", "127.0.0.1:" + std::to_string(port_)});
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  require(posix_spawnp(&pid_, "setpriv", nullptr, nullptr, arguments.data(), environ) == 0, "cannot start");
  for (int i = 0; i < 1000; ++i) {
    const int s = connect_to(path());
    if (s >= 0) {
      ::close(s);
      require(clock_getcpuclockid(pid_, &clock_) == 0, "no clock");
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  require(false, "everseen serve does not begin to listen");
}

served::~served() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  std::filesystem::remove_all(folder_);
}

void served::pause() const {
  require(kill(pid_, SIGSTOP) == 0, "cannot be stopped");
}

void served::resume() const {
  require(kill(pid_, SIGCONT) == 0, "cannot go on");
}

double served::cpu_seconds() const {
  timespec t{};
  clock_gettime(clock_, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

talker::talker(const std::string& path) : socket_(connect_to(path)) {
  require(socket_ >= 0, "cannot connect");
}

talker::talker(std::uint16_t port) : socket_(connect_to(port)) {
  require(socket_ >= 0, "cannot connect");
}

talker::~talker() {
  ::close(socket_);
}

void talker::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    require(sent > 0, "the server takes no more");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void talker::receive(std::size_t count, std::string& to) {
  const std::size_t end = to.size() + count;
  std::size_t have = to.size();
  to.resize(end);
  while (have < end) {
    const ssize_t got = ::recv(socket_, to.data() + have, end - have, 0);
    require(got > 0, "the server answers no more");
    have += static_cast<std::size_t>(got);
  }
}

std::string talker::ask(std::string_view bytes, std::size_t count) {
  std::string reply;
  send(bytes);
  receive(count, reply);
  return reply;
}

std::string encoded(const std::vector<std::string>& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return bytes;
}

}  // namespace everseen::bench
