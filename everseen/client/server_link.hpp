#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/redis/wire/reply.hpp"
#include "everseen/wire/client_protocol.hpp"

namespace everseen::client {

/// Converts the error of a server to an exception: the reverse of the server's conversion of its store's
/// exceptions.
/// @param filter  the name of the filter that was asked about
[[nodiscard]] std::exception_ptr exception_of(const redis::reply& error, std::string_view filter);

/// An operation that belongs to the store of the server.    @param problem  for example "the job 'a'"
[[nodiscard]] parameter_error not_over_a_server(const std::string& problem);

/// A session, in which the server runs each numbered request once: doc/operations.md, "Requests that run
/// once".
struct request_numbering {
  std::string session{};   ///< its id on the server; empty: none has begun
  std::uint64_t next = 1;  ///< the number of the next request
};

/// How long a request in a session may be sent again.
inline constexpr redis::repetition remembered{wire::session_idle};

/// What a server knows about a filter besides its bits.
struct remote_state {
  announced_filter
      filter;  ///< the segments are those of one partition; the seed is zero unless the user may know it
  std::string fingerprint;
  std::optional<event_time> expires_at{};
};

/// The connections of a process to one `everseen serve`. Threads: any number may call any function.
class server_link {
 public:
  /// Opens no connection yet.    @throws parameter_error  as redis::connection_pool
  explicit server_link(redis::redis_url url) : pool_(std::move(url)) {}

  /// Whether a command is sent again after its answer was lost.
  enum class repeat : bool { no, yes };
  /// One command that changes nothing, or may run twice.
  /// @param filter  for messages
  /// @throws backend_error  the server does not answer
  /// @throws error          as exception_of
  redis::reply ask(std::initializer_list<std::string_view> words, std::string_view filter,
                   repeat again) const;

  /// The same for a command that changes filters. The server runs it once, and gives its first answer again
  /// if that was lost.
  /// @throws backend_error  the server does not answer, was restarted before it answered, or lost its store;
  ///   the message says whether it may have run the command
  /// @throws error          as exception_of
  redis::reply change(std::initializer_list<std::string_view> words, std::string_view filter) const;

  /// @throws no_filter, error  as ask
  [[nodiscard]] remote_state state_of(std::string_view filter, std::uint32_t partition) const;

  [[nodiscard]] redis::connection_pool::lease take() const { return pool_.take(); }
  /// @throws error  as ask
  void begin_session(redis::server_connections& connections, request_numbering& in) const;
  /// The numbering of the session that belongs to the connections that this thread has taken.
  [[nodiscard]] request_numbering& numbering_of(const redis::server_connections& connection) const;

  /// The error for a reply that no such server gives.
  [[nodiscard]] format_error no_answer(std::string_view filter) const;
  /// For messages.
  [[nodiscard]] std::string server() const;
  [[nodiscard]] const redis::redis_url& url() const noexcept { return pool_.url(); }
  std::shared_ptr<retry_policy> wait_with(std::shared_ptr<retry_policy> p) const {
    return pool_.wait_with(std::move(p));
  }

 private:
  mutable redis::connection_pool pool_;
  mutable std::mutex lock_{};  // guards the map, not its values
  mutable std::map<std::string, request_numbering, std::less<>>
      numbering_{};  // by server_connections::name()
};

}  // namespace everseen::client
