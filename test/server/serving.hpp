#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test/support/program.hpp"
#include "test/support/scratch_directory.hpp"

namespace everseen::test {

/// A connection to a Unix socket that sends and receives bytes as they are.
class raw_client {
 public:
  explicit raw_client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect to " + path);
  }
  ~raw_client() { ::close(socket_); }
  raw_client(const raw_client&) = delete;
  raw_client& operator=(const raw_client&) = delete;

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("the server takes no more");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  /// Sends as much as the socket takes within a time, and says how much that was.
  std::size_t send_what_fits(std::string_view bytes, std::chrono::milliseconds patience) {
    std::size_t all = 0;
    pollfd ready{socket_, POLLOUT, 0};
    while (all < bytes.size() && ::poll(&ready, 1, static_cast<int>(patience.count())) > 0) {
      const ssize_t sent =
          ::send(socket_, bytes.data() + all, bytes.size() - all, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) break;
      all += static_cast<std::size_t>(sent);
    }
    return all;
  }

  void send_no_more() { ::shutdown(socket_, SHUT_WR); }

  /// So many bytes; fewer if the server ends the connection, or 20 s pass.
  std::string receive(std::size_t count) {
    std::string bytes;
    while (bytes.size() < count && receive_some(bytes, count - bytes.size())) {
    }
    return bytes;
  }

  /// All bytes until the server ends the connection.
  std::string receive_all() {
    std::string bytes;
    while (receive_some(bytes, 65'536)) {
    }
    return bytes;
  }

  /// Sends a request as a client does, and gives as many bytes of the answer as are expected.
  std::string ask(std::string_view request, std::size_t count) { return send(request), receive(count); }

 private:
  bool receive_some(std::string& to, std::size_t most) {
    pollfd ready{socket_, POLLIN, 0};
    if (::poll(&ready, 1, 20'000) <= 0) return false;
    const std::size_t before = to.size();
    to.resize(before + most);
    const ssize_t got = ::recv(socket_, to.data() + before, most, 0);
    to.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    return got > 0;
  }

  int socket_;
};

/// A request as clients encode it.
inline std::string encoded(const std::vector<std::string>& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return bytes;
}

/// `everseen serve` on a Unix socket and a free TCP port. Ends with this object.
class serving {
 public:
  explicit serving(const std::string& store = "mem:", std::vector<std::string> more = {})
      : store_(store), more_(std::move(more)) {
    start();
  }

  void start() {
    std::vector<std::string> command = {EVERSEEN_PROGRAM, "serve",          "--store",  store_,
                                        "--listen",       "unix:" + path(), "--listen", "127.0.0.1:0"};
    command.insert(command.end(), more_.begin(), more_.end());
    program_.emplace(command);
    const std::size_t lines =
        2 + static_cast<std::size_t>(std::count(more_.begin(), more_.end(), "--listen"));
    for (int i = 0; i < 2000; ++i) {
      const std::string said = program_->out();
      if (static_cast<std::size_t>(std::count(said.begin(), said.end(), '\n')) == lines) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("the server does not begin to listen: " + program_->err());
  }

  [[nodiscard]] std::string path() const { return (directory_.path() / "s").string(); }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  /// The lines that say where it listens.
  [[nodiscard]] std::string said() const { return program_->out(); }
  [[nodiscard]] std::string port(std::string_view before = "listening on 127.0.0.1:") const {
    const std::string all = said();
    const std::size_t at = all.find(before) + before.size();
    return all.substr(at, all.find('\n', at) - at);
  }

  /// What redis-cli prints for a command.
  [[nodiscard]] std::string cli(const std::vector<std::string>& words) const {
    std::vector<std::string> command = {"redis-cli", "-s", path()};
    command.insert(command.end(), words.begin(), words.end());
    std::string out = run_program(command).out;
    while (out.ends_with('\n')) out.pop_back();
    return out;
  }

  void kill() { program_->send(SIGKILL), program_->wait(); }
  /// Ends it in order.
  program_result stop() { return program_->send(SIGTERM), program_->wait(); }
  [[nodiscard]] running_program& program() { return *program_; }

 private:
  scratch_directory directory_{};
  std::string store_;
  std::vector<std::string> more_;
  std::optional<running_program> program_{};
};

}  // namespace everseen::test
