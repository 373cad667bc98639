#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "test/support/scratch_directory.hpp"

namespace everseen::test {

/// A TCP port of this machine without a listener, below the range of outgoing connections.
[[nodiscard]] std::uint16_t free_port();
/// Whether no process listens on it.
[[nodiscard]] bool is_free(std::uint16_t port);

/// Certificates created for a test: a CA, and certificates that it signed for a server (127.0.0.1 and
/// redis.test) and a client.
class tls_files {
 public:
  tls_files();

  [[nodiscard]] std::string path(const std::string& name) const {
    return (directory_.path() / name).string();
  }
  [[nodiscard]] std::string ca() const { return path("ca.crt"); }
  [[nodiscard]] std::string stranger() const {
    return path("stranger.crt");
  }  ///< a CA that signed no certificate
  [[nodiscard]] std::string client_cert() const { return path("client.crt"); }
  [[nodiscard]] std::string client_key() const { return path("client.key"); }

 private:
  scratch_directory directory_;
};

/// The reply to one command, as text: "OK", "12", "-ERR ...", "(nil)", and the elements of an array line by
/// line.
///
/// It has its own parser, so that a test does not check the code by itself.
[[nodiscard]] std::string raw_command(const std::string& unix_path, std::span<const std::string> words);
/// Several commands, in this order, on one connection, pipelined.
[[nodiscard]] std::vector<std::string> raw_commands(const std::string& unix_path,
                                                    std::span<const std::vector<std::string>> commands);

/// A subscriber to a channel of a server.
class listener {
 public:
  /// Subscribed when it returns.
  listener(const std::string& unix_path, const std::string& channel);
  ~listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  /// The next message; waits for it.    @throws std::runtime_error  none arrived within 20 s
  [[nodiscard]] std::string next();

 private:
  struct connection;
  std::unique_ptr<connection> connection_;
};

/// Server configuration that loads our module.
[[nodiscard]] std::vector<std::string> with_module();

/// A real redis-server in a directory of its own. Listens on a TCP port of 127.0.0.1 and on a Unix socket.
///
/// It ends with this object, and also if the test program crashes.
class redis_server {
 public:
  struct options {
    const tls_files* tls = nullptr;     ///< the TCP port uses TLS, and requires a client certificate
    std::string password{};             ///< requirepass
    std::vector<std::string> config{};  ///< additional words, as in {"--appendonly", "yes"}
  };

  /// Ready when it returns.
  explicit redis_server(options o);
  redis_server() : redis_server(options{}) {}
  /// @param words  as options::config
  explicit redis_server(std::vector<std::string> words) : redis_server(options{.config = std::move(words)}) {}
  ~redis_server();
  redis_server(const redis_server&) = delete;
  redis_server& operator=(const redis_server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string unix_path() const { return (directory_.path() / "redis.sock").string(); }
  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_.path(); }
  /// redis://127.0.0.1:port and `rest`, as in "/2?timeout=1s".
  [[nodiscard]] std::string url(std::string_view rest = "") const;
  [[nodiscard]] std::string unix_url(std::string_view rest = "") const;
  /// host:port
  [[nodiscard]] std::string address() const;

  /// Runs one command over the Unix socket; the reply is as in raw_command().
  std::string run(std::initializer_list<std::string> words) const;

  void stop();   ///< as an administrator does: saves if its configuration says so
  void kill();   ///< as a power failure does
  void start();  ///< again, with the same ports and directory    @pre it does not run
  void restart() { stop(), start(); }
  /// The same data, another configuration: for example without a module.
  void restart_with(std::vector<std::string> config);
  void pause();  ///< connections are still accepted, but not answered
  void resume();

 private:
  [[nodiscard]] std::vector<std::string> command_line() const;
  void launch();
  void wait_until_ready();
  [[nodiscard]] std::string log() const;

  options options_;
  scratch_directory directory_;
  std::uint16_t port_;
  std::uint16_t bus_port_;
  pid_t process_ = -1;
};

/// A cluster of three masters, each with a replica or none.
class redis_cluster {
 public:
  enum class replicas : std::uint8_t { none, one_each };

  /// Ready when it returns.
  /// @param config  as in redis_server::options
  explicit redis_cluster(replicas r = replicas::none, const std::vector<std::string>& config = {});

  static constexpr std::size_t masters = 3;
  static constexpr unsigned slots = 16384;

  /// The first three are masters of a third of the slots each, in order; i + 3 is the replica of i.
  [[nodiscard]] redis_server& node(std::size_t i) { return *nodes_[i]; }
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] redis_server& owner(unsigned slot) { return node(slot * masters / slots); }
  [[nodiscard]] std::string id(std::size_t i) const { return nodes_[i]->run({"CLUSTER", "MYID"}); }
  /// redis+cluster:// with every node, and `rest`.
  [[nodiscard]] std::string url(std::string_view rest = "") const;

  /// Moves a slot and its keys.
  void begin_to_move(unsigned slot, std::size_t from, std::size_t target);
  void move_keys(unsigned slot, std::size_t from, std::size_t target);
  void finish_to_move(unsigned slot, std::size_t target);

  void wait_until_ok() const;

  /// How long a silent node is tolerated before the others consider it failed. Initially half a minute, as on
  /// a busy machine a live node may be silent for more than a second. A second before a node is killed makes
  /// its replica take over soon.    @pre all nodes run
  void misses_after(std::chrono::milliseconds silence);

 private:
  void give_slots();
  void introduce();
  void give_replicas();

  std::vector<std::unique_ptr<redis_server>> nodes_{};
};

/// Waits until the condition holds, for at most ten minutes: a slow machine is no failure.
/// @throws std::runtime_error  it never did
template <typename Condition>
void wait_until(Condition holds, std::string_view event) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(10);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("never: " + std::string(event));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace everseen::test
