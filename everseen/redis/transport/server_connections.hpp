#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "everseen/redis/script/script.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/redis/wire/reply.hpp"
#include "everseen/store/port/retry_policy.hpp"

namespace everseen::redis {

/// The route of a command: in a cluster the key decides, among independent instances the partition.
struct route {
  std::string key;
  std::uint32_t partition = 0;
};

/// Whether running a request twice has the effect of running it once: never, always, or for as long as the
/// server remembers its answer, counted from when the request was first sent.
class repetition {
 public:
  constexpr repetition(bool always) noexcept  // NOLINT(google-explicit-constructor): most are a yes or a no
      : for_(always ? std::chrono::milliseconds::max() : std::chrono::milliseconds::zero()) {}
  constexpr explicit repetition(std::chrono::milliseconds remembered) noexcept : for_(remembered) {}

  constexpr explicit operator bool() const noexcept { return for_.count() > 0; }
  [[nodiscard]] constexpr std::chrono::milliseconds time() const noexcept { return for_; }

 private:
  std::chrono::milliseconds for_;
};

/// One command, or several for the same server, which are answered in their order.
struct request {
  request() = default;
  request(route where, std::string encoded, std::size_t how_many, repetition may_run_again)
      : destination(std::move(where)),
        wire(std::move(encoded)),
        commands(how_many),
        repeatable(may_run_again) {}

  route destination;
  std::string wire;  ///< the commands, from encode(); no transaction (MULTI), since they may be sent apart
  std::size_t commands = 1;
  /// A request that is repeatable is sent again after an outage.
  repetition repeatable = false;
  /// The script that `wire` calls by its name. A server that does not know it is sent its text.
  /// @pre repeatable, or one command
  const script* called = nullptr;
  /// The request counts as answered only when as many replicas as wait= of the URL requires have what its
  /// server had written by then, for this or another request, and it is not sent while replicas are missing.
  /// Too few replicas are an outage, with retries like any other.
  bool on_replicas = false;
};

/// No reply came.
struct outage {
  std::string message;        ///< names the server, says what to do
  bool may_have_run = false;  ///< the command was sent, so it may have taken effect
};

/// One reply for each command of a request, or the reason why there are none.
using answer = tl::expected<std::vector<reply>, outage>;

class dispatcher;

/// One thread's connections to the servers of a URL.
///
/// exchange() sends each request to its server and waits for all servers together: for the slowest, not for
/// the sum. Connections are made when they are first needed, and again after an outage, with exponential,
/// jittered backoff, until the outage has lasted for `retry_for`. A wrong password or certificate is reported
/// immediately. A cluster's redirections (MOVED, ASK, TRYAGAIN, CLUSTERDOWN), and READONLY, NOREPLICAS,
/// MISCONF, MASTERDOWN, LOADING and BUSY of a server that cannot work now, are handled here. So is NOSCRIPT:
/// the text of the script is sent. Callers see none of these. Errors that are answers (WRONGTYPE, OOM,
/// NOPERM, ...) are returned as replies.
///
/// Once a byte of a request that is not repeatable may have reached a server, it is not sent again, except
/// for the commands in it that the server refused to run.
///
/// Threads: one at a time; see connection_pool.
class server_connections {
 public:
  /// Opens no connection yet.
  /// @throws parameter_error  the certificates or the key of the URL cannot be read
  /// @throws storage_error    the system has no more descriptors
  explicit server_connections(const redis_url& url);
  ~server_connections();
  server_connections(const server_connections&) = delete;
  server_connections& operator=(const server_connections&) = delete;

  /// Answers in the order of the requests. Requests for one server are sent in their order; after a
  /// redirection or an outage they may run in another.
  /// @throws storage_error  the system has no more descriptors
  [[nodiscard]] std::vector<answer> exchange(std::span<const request> requests);

  /// The same commands, which name no key and may run twice, to every master: of a URL in its order, of a
  /// cluster in that of slots.
  /// @return if a cluster cannot be found, that one outage
  [[nodiscard]] std::vector<answer> exchange_with_all(const std::string& wire);

  /// One command, for callers to which a missing answer is exceptional.
  /// @throws backend_error  no answer, or an error as the answer
  reply ask(const route& destination, std::initializer_list<std::string_view> words, bool repeatable = false);

  /// Lets `p` decide how long requests are retried in an outage, instead of `retry_for`; null: `retry_for`
  /// again.
  void wait_with(std::shared_ptr<retry_policy> p) noexcept;
  /// How long a server must remember its answer to a call that is retried for as long as the URL and
  /// wait_with() say.
  [[nodiscard]] std::chrono::milliseconds keeps_answers() const noexcept;

  /// The number of requests so far whose answer was lost after they were sent, even if a retry was answered.
  [[nodiscard]] std::uint64_t lost_answers() const noexcept;

  /// Random and unique: identifies this client to servers.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// The server that a route leads to now, for messages and `info`. May ask a cluster for its slots.
  /// @throws backend_error  the cluster cannot be found
  [[nodiscard]] endpoint server_of(const route& destination);

 private:
  std::unique_ptr<dispatcher> dispatcher_;
  std::string name_;
};

/// Connections for any number of threads; each thread takes a set while it needs it. Threads: any number.
class connection_pool {
 public:
  /// @throws parameter_error  the certificates or the key of the URL cannot be read
  explicit connection_pool(redis_url url);
  /// Shares the wait_with() of the other pool.
  connection_pool(redis_url url, const connection_pool& beside);
  connection_pool(const connection_pool&) = delete;
  connection_pool& operator=(const connection_pool&) = delete;

  struct giving_back {
    connection_pool* pool;
    void operator()(server_connections* s) const noexcept;
  };
  /// Returns the connections to the pool when it is destroyed.    @pre destroyed before the pool
  using lease = std::unique_ptr<server_connections, giving_back>;

  /// Free connections, or new ones; does not wait for other threads.    @throws  as server_connections
  [[nodiscard]] lease take();
  [[nodiscard]] const redis_url& url() const noexcept { return url_; }

  /// server_connections::wait_with for all connections that are taken from now on.    @return the policy
  /// before
  std::shared_ptr<retry_policy> wait_with(std::shared_ptr<retry_policy> p);
  /// How long servers must remember their answers: a call may be retried for that long.
  [[nodiscard]] std::chrono::milliseconds keeps_answers() const;

 private:
  struct waiting {
    std::mutex lock{};  // guards what follows
    std::shared_ptr<retry_policy> policy{};
  };
  connection_pool(redis_url url, std::shared_ptr<waiting> shared);

  const redis_url url_;
  const std::shared_ptr<waiting> waiting_;
  std::mutex lock_;  // guards what follows
  std::vector<std::unique_ptr<server_connections>>
      idle_{};  // the one used last is likely to be connected: at the end
};

}  // namespace everseen::redis
