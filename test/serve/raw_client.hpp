#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace everseen::test {

/// A connection to a Unix socket that sends and receives raw bytes.
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
      if (sent <= 0) throw std::runtime_error("the server accepts no more");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  /// Sends as much as the socket accepts within a time, and returns how much that was.
  std::size_t send_what_fits(std::string_view bytes, std::chrono::milliseconds time_limit) {
    std::size_t all = 0;
    pollfd ready{socket_, POLLOUT, 0};
    while (all < bytes.size() && ::poll(&ready, 1, static_cast<int>(time_limit.count())) > 0) {
      const ssize_t sent =
          ::send(socket_, bytes.data() + all, bytes.size() - all, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) break;
      all += static_cast<std::size_t>(sent);
    }
    return all;
  }

  void send_no_more() { ::shutdown(socket_, SHUT_WR); }

  /// This many bytes; fewer if the server closes the connection, or after 20 s.
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

  /// One line, without its end; empty if the server ends the connection.
  std::string receive_line() {
    std::string line;
    while (!line.ends_with("\r\n") && receive_some(line, 1)) {
    }
    if (line.ends_with("\r\n")) line.resize(line.size() - 2);
    return line;
  }

  /// Sends a request as a client does, and returns as many bytes of the answer as are expected.
  std::string ask(std::string_view request, std::size_t count) { return send(request), receive(count); }

 private:
  bool receive_some(std::string& received, std::size_t most) {
    pollfd ready{socket_, POLLIN, 0};
    if (::poll(&ready, 1, 20'000) <= 0) return false;
    const std::size_t before = received.size();
    received.resize(before + most);
    const ssize_t got = ::recv(socket_, received.data() + before, most, 0);
    received.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
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

}  // namespace everseen::test
