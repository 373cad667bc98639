#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "everseen/redis/redis_url.hpp"
#include "everseen/redis/reply.hpp"

namespace everseen::redis {

/// Encodes a command for the wire (hiredis's formatter).
[[nodiscard]] std::string encode(std::span<const std::string_view> words);
[[nodiscard]] std::string encode(std::initializer_list<std::string_view> words);

/// Where a command must go: the key decides in a cluster, the partition among independent instances.
struct route {
  std::string key;
  std::uint32_t partition = 0;
};

/// One command, or several that are answered one after the other, for one place.
struct request {
  route to;
  std::string wire;      ///< from encode(), commands one behind the other
  std::size_t commands = 1;
  /// Whether running it twice gives the same as running it once. Then an outage is ridden out by sending it again.
  bool repeatable = false;
};

/// No reply came.
struct outage {
  std::string message;       ///< names the server, says what to do
  bool may_have_run = false;  ///< the command was sent, so it may have taken effect
};

/// One reply for each command of a request, or why there are none.
using answer = tl::expected<std::vector<reply>, outage>;

/// One thread's connections to the servers of a URL.
///
/// exchange() sends each request to its server and waits for all servers at once: for the slowest, not for the sum.
/// Connections are made when first needed and again after an outage, with a growing, jittered pause. A cluster's
/// redirections (MOVED, ASK, TRYAGAIN, CLUSTERDOWN, and READONLY or LOADING of a server that is changing its role) are
/// followed here, and nobody above sees them. Errors that are answers (WRONGTYPE, NOSCRIPT, OOM, NOPERM, ...) are
/// given back as replies.
///
/// Threads: one at a time; see session_pool.
class session {
 public:
  /// Connects to nothing yet.
  explicit session(const redis_url& url);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Answers in the order of the requests.
  [[nodiscard]] std::vector<answer> exchange(std::span<const request> requests);

  /// The same command to every master.
  [[nodiscard]] std::vector<answer> exchange_with_all(const std::string& wire, bool repeatable);

  /// One command, for where a missing answer is exceptional.
  /// @throws backend_error  no answer, or an error as the answer
  reply ask(const route& to, std::initializer_list<std::string_view> words);

  /// Names of keys that match a pattern of SCAN, on all masters. A key that is made or removed meanwhile may be missing
  /// or not. Cost: a look at every key of every server.
  /// @throws backend_error
  [[nodiscard]] std::vector<std::string> scan(const std::string& pattern);

  /// Random and unlike that of any other session: tells clients apart.
  [[nodiscard]] const std::string& name() const noexcept;

  /// The server that a route leads to now, for messages and `info`.
  [[nodiscard]] endpoint server_of(const route& to);

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

/// Sessions for any number of threads: each takes one for as long as it talks.
class session_pool {
 public:
  explicit session_pool(redis_url url);
  ~session_pool();

  /// Gives the session back when it ends.
  class lease {
   public:
    lease(session_pool& pool, std::unique_ptr<session> s) : pool_(pool), session_(std::move(s)) {}
    ~lease();
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    session* operator->() const noexcept { return session_.get(); }
    session& operator*() const noexcept { return *session_; }

   private:
    session_pool& pool_;
    std::unique_ptr<session> session_;
  };

  [[nodiscard]] lease take();
  [[nodiscard]] const redis_url& url() const noexcept;

 private:
  void give_back(std::unique_ptr<session> s);

  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen::redis
