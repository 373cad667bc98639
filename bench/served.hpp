#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace everseen::bench {

/// The processors that this program may use.
[[nodiscard]] std::vector<unsigned> processors();

/// Pins the calling thread to one processor during this object's lifetime.
class on_processor {
 public:
  explicit on_processor(unsigned which);
  ~on_processor();
  on_processor(const on_processor&) = delete;
  on_processor& operator=(const on_processor&) = delete;
};

/// `everseen serve` for this program, on a Unix socket and a TCP port of 127.0.0.1; ends with the program.
class served {
 public:
  /// @param launcher  the command that starts it, as in {"taskset", "-c", "0"}
  served(const std::string& store, const std::vector<std::string>& more,
         const std::vector<std::string>& launcher = {});
  ~served();
  served(const served&) = delete;
  served& operator=(const served&) = delete;

  [[nodiscard]] std::string path() const { return folder_ + "/s"; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Stops all its threads until resume().
  void pause() const;
  void resume() const;
  /// CPU time of all its threads so far.
  [[nodiscard]] double cpu_seconds() const;

 private:
  std::string folder_;
  std::uint16_t port_;
  pid_t pid_ = -1;
  clockid_t clock_{};
};

/// A blocking connection.
class talker {
 public:
  explicit talker(const std::string& path);
  explicit talker(std::uint16_t port);
  ~talker();
  talker(const talker&) = delete;
  talker& operator=(const talker&) = delete;

  void send(std::string_view bytes);
  /// Appends this many bytes of replies.
  void receive(std::size_t count, std::string& to);
  [[nodiscard]] std::string ask(std::string_view bytes, std::size_t count);
  [[nodiscard]] int socket() const noexcept { return socket_; }

 private:
  int socket_;
};

/// A request as clients encode it.
[[nodiscard]] std::string encoded(const std::vector<std::string>& words);

}  // namespace everseen::bench
