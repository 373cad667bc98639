#include "test/support/redis_server.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/support/child_environment.hpp"
#include "test/support/lasting_thread.hpp"
#include "test/support/places.hpp"

namespace everseen::test {

namespace {

/// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(const exec_words& words, const exec_words& environment, int log, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) std::_Exit(1);
  ::dup2(log, 1);
  ::dup2(log, 2);
  environ = const_cast<char**>(environment.get());  // execvp searches the PATH in it
  ::execvp(words.get()[0], words.get());
  std::_Exit(127);
}

std::vector<std::string> environment_of_servers() {
#ifdef EVERSEEN_MODULE_PRELOAD
  // A sanitizer must be loaded before the server starts, not only with the module. Leaks of the server
  // itself do not matter, and too large a value is an error and no fault.
  return environment_with(
      {{"LD_PRELOAD", EVERSEEN_MODULE_PRELOAD},
       {"ASAN_OPTIONS", "detect_leaks=0:halt_on_error=1:abort_on_error=1:allocator_may_return_null=1"}});
#else
  return environment_with({});
#endif
}

}  // namespace

bool is_free(std::uint16_t port) {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = ::bind(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(s);
  return bound;
}

std::uint16_t free_port() {
  thread_local std::minstd_rand random{std::random_device{}()};
  std::uniform_int_distribution<unsigned> any(15'000, 32'000);
  for (;;)
    if (const auto port = static_cast<std::uint16_t>(any(random)); is_free(port)) return port;
}

std::vector<std::string> with_module() {
  return {"--loadmodule", redis_module()};
}

redis_server::redis_server(options o) : options_(std::move(o)), port_(free_port()), bus_port_(free_port()) {
  for (int attempts = 5;; --attempts) {
    try {
      start();
      return;
    } catch (const std::runtime_error&) {  // another process may have taken the port
      kill();
      if (attempts == 0) throw;
      port_ = free_port();
      bus_port_ = free_port();
    }
  }
}

redis_server::~redis_server() {
  kill();
}

std::string redis_server::address() const {
  return "127.0.0.1:" + std::to_string(port_);
}

std::string redis_server::url(std::string_view rest) const {
  return (options_.tls != nullptr ? "rediss://" : "redis://") + address() + std::string(rest);
}

std::string redis_server::unix_url(std::string_view rest) const {
  return "unix:" + unix_path() + std::string(rest);
}

std::string redis_server::run(std::initializer_list<std::string> words) const {
  return raw_command(unix_path(), std::span(words.begin(), words.size()));
}

std::vector<std::string> redis_server::command_line() const {
  const std::string port = std::to_string(port_);
  std::vector<std::string> words{"redis-server",
                                 "--bind",
                                 "127.0.0.1",
                                 "--dir",
                                 directory().string(),
                                 "--unixsocket",
                                 unix_path(),
                                 "--save",
                                 "",
                                 "--enable-debug-command",
                                 "yes",
                                 "--cluster-port",
                                 std::to_string(bus_port_),
                                 "--hz",
                                 "100"};
  const auto add = [&words](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (const tls_files* tls = options_.tls; tls != nullptr)
    add({"--port", "0", "--tls-port", port, "--tls-ca-cert-file", tls->ca(), "--tls-cert-file",
         tls->path("server.crt"), "--tls-key-file", tls->path("server.key")});
  else
    add({"--port", port});
  if (!options_.password.empty()) add({"--requirepass", options_.password});
  words.insert(words.end(), options_.config.begin(), options_.config.end());
  // The suites of stores also run with the module in every server (test/CMakeLists.txt).
  const bool has_it = std::ranges::find(options_.config, "--loadmodule") != options_.config.end();
  if (std::getenv("EVERSEEN_TEST_MODULE_EVERYWHERE") != nullptr && !has_it)
    words.insert(words.end(), {"--loadmodule", redis_module()});
  return words;
}

void redis_server::start() {
  launch();
  wait_until_ready();
}

void redis_server::launch() {
  const exec_words words(command_line());
  const exec_words environment(environment_of_servers());
  const int log = ::open((directory() / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const pid_t parent = ::getpid();
  lasting_thread::get().run([&] {
    process_ = ::fork();
    if (process_ == 0) become(words, environment, log, parent);
  });
  ::close(log);
  if (process_ < 0) throw std::runtime_error("no process for redis-server");
}

void redis_server::wait_until_ready() {
  const auto is_ready = [this] {
    if (::waitpid(process_, nullptr, WNOHANG) != 0) {
      process_ = -1;
      throw std::runtime_error("redis-server does not start:\n" + log());
    }
    try {
      return !run({"PING"}).starts_with("-LOADING");
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  wait_until(is_ready, "redis-server is ready");
}

std::string redis_server::log() const {
  std::ostringstream text;
  text << std::ifstream(directory() / "log").rdbuf();
  return text.str();
}

void redis_server::stop() {
  if (process_ <= 0) return;
  ::kill(process_, SIGTERM);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

void redis_server::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

void redis_server::restart_with(std::vector<std::string> config) {
  run({"SAVE"});
  stop();
  options_.config = std::move(config);
  start();
}

void redis_server::pause() {
  ::kill(process_, SIGSTOP);
}
void redis_server::resume() {
  ::kill(process_, SIGCONT);
}

tls_files::tls_files() {
  const auto openssl = [this](const std::string& arguments) {
    const std::string command =
        "cd '" + directory_.path().string() + "' && openssl " + arguments + " >log 2>&1";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  };
  const std::string create = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 ";
  const auto sign = [&](const std::string& name, const std::string& alternatives) {
    openssl(create + "-CA ca.crt -CAkey ca.key -subj /CN=" + name +
            " -addext subjectAltName=" + alternatives +
            " -addext basicConstraints=critical,CA:false -keyout " + name + ".key -out " + name + ".crt");
  };
  openssl(create + "-subj /CN=everseen-test-ca -keyout ca.key -out ca.crt");
  openssl(create + "-subj /CN=stranger -keyout stranger.key -out stranger.crt");
  sign("server", "IP:127.0.0.1,DNS:redis.test");
  sign("client", "DNS:client.test");
}

}  // namespace everseen::test
