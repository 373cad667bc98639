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

/// A TCP port of this machine that nobody listens on, below those that outgoing connections get.
[[nodiscard]] std::uint16_t free_port();

/// Certificates made for a test: a CA, and a server (127.0.0.1 and redis.test) and a client that it vouches
/// for.
class tls_files {
 public:
  tls_files();

  [[nodiscard]] std::string path(const std::string& name) const {
    return (directory_.path() / name).string();
  }
  [[nodiscard]] std::string ca() const { return path("ca.crt"); }
  [[nodiscard]] std::string stranger() const {
    return path("stranger.crt");
  }  ///< a CA that vouches for nobody
  [[nodiscard]] std::string client_cert() const { return path("client.crt"); }
  [[nodiscard]] std::string client_key() const { return path("client.key"); }

 private:
  scratch_directory directory_;
};

/// What one command is answered, as text: "OK", "12", "-ERR ...", "(nil)", and the elements of an array line
/// by line.
///
/// By a parser of its own, so that a test does not judge the code by the code.
[[nodiscard]] std::string raw_command(const std::string& unix_path, std::span<const std::string> words);
/// Several, in this order, on one connection; the next are sent before the ones before are answered.
[[nodiscard]] std::vector<std::string> raw_commands(const std::string& unix_path,
                                                    std::span<const std::vector<std::string>> commands);

/// Who listens to a channel of a server.
class listener {
 public:
  /// Listens when it returns.
  listener(const std::string& unix_path, const std::string& channel);
  ~listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  /// The next message; waits for it.    @throws std::runtime_error  none came for 20 s
  [[nodiscard]] std::string next();

 private:
  struct connection;
  std::unique_ptr<connection> connection_;
};

/// Words of a server's configuration that load our module.
[[nodiscard]] std::vector<std::string> with_module();

/// A real redis-server in a directory of its own. Listens on a TCP port of 127.0.0.1 and on a Unix socket.
///
/// It ends with this object, and also when the test program ends in any other way.
class redis_server {
 public:
  struct options {
    const tls_files* tls = nullptr;     ///< the TCP port speaks TLS, and asks for a client certificate
    std::string password{};             ///< requirepass
    std::vector<std::string> config{};  ///< more words, as in {"--appendonly", "yes"}
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
  /// redis://127.0.0.1:port, then what is given: "/2?timeout=1s".
  [[nodiscard]] std::string url(std::string_view rest = "") const;
  [[nodiscard]] std::string unix_url(std::string_view rest = "") const;
  /// host:port
  [[nodiscard]] std::string address() const;

  /// One command over the Unix socket, answered as raw_command() says.
  std::string run(std::initializer_list<std::string> words) const;

  void stop();   ///< as an administrator does: saves what its configuration tells it to
  void kill();   ///< as a power failure does
  void start();  ///< again, with the same ports and directory    @pre it does not run
  void restart() { stop(), start(); }
  void pause();  ///< connections are still accepted, but nothing is answered
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

/// A cluster of three masters and as many replicas, or none.
class redis_cluster {
 public:
  enum class replicas : std::uint8_t { none, one_each };

  /// Ready when it returns.
  /// @param config  as redis_server::options has it
  explicit redis_cluster(replicas r = replicas::none, const std::vector<std::string>& config = {});

  static constexpr std::size_t masters = 3;
  static constexpr unsigned slots = 16384;

  /// The first three were made masters of a third of the slots each, in order; i + 3 is the replica of i.
  [[nodiscard]] redis_server& node(std::size_t i) { return *nodes_[i]; }
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] redis_server& owner(unsigned slot) { return node(slot * masters / slots); }
  [[nodiscard]] std::string id(std::size_t i) const { return nodes_[i]->run({"CLUSTER", "MYID"}); }
  /// redis+cluster:// with every node, then what is given.
  [[nodiscard]] std::string url(std::string_view rest = "") const;

  /// Moves a slot and its keys.
  void begin_to_move(unsigned slot, std::size_t from, std::size_t to);
  void move_keys(unsigned slot, std::size_t from, std::size_t to);
  void finish_to_move(unsigned slot, std::size_t to);

  void wait_until_ok() const;

  /// How long a node is silent before the others take it for failed. At first a second where there are
  /// replicas, to have them elected; else half a minute: on a busy machine a node that lives is silent for
  /// more than a second.
  void misses_after(std::chrono::milliseconds silence);

 private:
  void give_slots();
  void introduce();
  void give_replicas();

  std::vector<std::unique_ptr<redis_server>> nodes_{};
};

/// Waits until it holds, at most some seconds.
/// @throws std::runtime_error  it never did
template <typename Condition>
void wait_until(Condition holds, std::string_view what) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("never: " + std::string(what));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace everseen::test
