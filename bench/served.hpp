#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace everseen::bench {

/// `everseen serve` for this program, on a Unix socket; ends with it.
class served {
 public:
  served(const std::string& store, const std::vector<std::string>& more);
  ~served();
  served(const served&) = delete;
  served& operator=(const served&) = delete;

  [[nodiscard]] std::string path() const { return folder_ + "/s"; }
  /// CPU time of all its threads so far.
  [[nodiscard]] double cpu_seconds() const;

 private:
  std::string folder_;
  pid_t pid_ = -1;
  clockid_t clock_{};
};

/// A connection that blocks.
class talker {
 public:
  explicit talker(const std::string& path);
  ~talker();
  talker(const talker&) = delete;
  talker& operator=(const talker&) = delete;

  void send(std::string_view bytes);
  /// So many bytes of replies, appended.
  void receive(std::size_t count, std::string& to);
  [[nodiscard]] std::string ask(std::string_view bytes, std::size_t count);
  [[nodiscard]] int socket() const noexcept { return socket_; }

 private:
  int socket_;
};

/// A request as clients encode it.
[[nodiscard]] std::string encoded(const std::vector<std::string>& words);

}  // namespace everseen::bench
