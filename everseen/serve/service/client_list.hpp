#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace everseen::serve {

/// The part of a client that other clients can see.
struct client {
  std::uint64_t id = 0;
  std::string address{};        ///< of the client
  std::string network{};        ///< its address; for IPv6, the customer's network (/64)
  std::string local_address{};  ///< of the server's end
  std::int64_t since_ms = 0;    ///< ms since 1970
  std::atomic<std::int64_t> last_request_ms = 0;
  std::atomic<const char*> last_command = "";
  std::atomic<int> protocol = 0;  ///< version of the Redis protocol; 0: HTTP
  std::atomic<int> queued = -1;   ///< requests since MULTI; -1: there was none

  void set_name(std::string name);
  [[nodiscard]] std::string name() const;
  void set_user(std::string name);
  [[nodiscard]] std::string user() const;
  /// What the client says about its library by CLIENT SETINFO.
  enum class library_word : bool { name, version };
  void set_library(library_word which, std::string text);
  [[nodiscard]] std::string library(library_word which) const;

 private:
  mutable std::mutex lock_{};
  std::string name_{};
  std::string user_ = "default";
  std::string library_[2]{};
};

/// The connected clients. Threads: any number.
class client_list {
 public:
  /// Assigns the client its id.
  void add(const std::shared_ptr<client>& c);
  void remove(std::uint64_t id);
  [[nodiscard]] std::vector<std::shared_ptr<client>> all() const;
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex lock_{};
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::shared_ptr<client>> by_id_{};
};

/// The line of CLIENT LIST for a client.
[[nodiscard]] std::string describe(const client& c, std::int64_t now_ms);

}  // namespace everseen::serve
