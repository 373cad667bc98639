#include "bench/redis_server.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/support.hpp"

extern char** environ;

namespace everseen::bench {

redis_server::redis_server(const std::vector<std::string>& more) {
  folder_ = (std::filesystem::temp_directory_path() / "everseen-redis-XXXXXX").string();
  require(mkdtemp(folder_.data()) != nullptr, "no temporary folder");
  const std::string port = std::to_string(free_port());
  address_ = "127.0.0.1:" + port;
  std::vector<std::string> words = {"setpriv",      "--pdeathsig",
                                    "TERM",         "redis-server",
                                    "--port",       port,
                                    "--bind",       "127.0.0.1",
                                    "--save",       "",
                                    "--dir",        folder_,
                                    "--logfile",    folder_ + "/log",
                                    "--unixsocket", folder_ + "/redis.sock"};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  require(posix_spawnp(&pid_, "setpriv", nullptr, nullptr, arguments.data(), environ) == 0,
          "cannot start redis-server");
  connections_.emplace(redis::parse_redis_url(url()));  // retries until the server answers
  (void)connections_->ask({}, {"PING"}, true);
}

redis_server::~redis_server() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  std::filesystem::remove_all(folder_);
}

double redis_server::cpu_seconds() {
  const redis::reply info = connections_->ask({}, {"INFO", "cpu"});
  const std::string text(info.text());
  const auto number = [&](const std::string& name) {
    const std::size_t at = text.find(name);
    require(at != std::string::npos, "INFO has no " + name);
    return std::strtod(text.c_str() + at + name.size(), nullptr);
  };
  return number("used_cpu_user:") + number("used_cpu_sys:");
}

void redis_server::clear() {
  (void)connections_->ask({}, {"FLUSHALL"});
}

namespace {

double cpu_seconds_of(int who) {
  rusage u{};
  getrusage(who, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

}  // namespace

double own_cpu_seconds() {
  return cpu_seconds_of(RUSAGE_SELF);
}

double children_cpu_seconds() {
  return cpu_seconds_of(RUSAGE_CHILDREN);
}

}  // namespace everseen::bench
