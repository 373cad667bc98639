#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/jobs/port/source.hpp"
#include "everseen/jobs/redis/redis_stream_url.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/redis/wire/reply.hpp"

namespace everseen::redis_stream {

/// A consumer of a group, with its lane and its lease.
struct consumer_name {
  std::string name;
  std::string lane;   ///< stream/group/name
  std::string lease;  ///< the key of its lease
};

/// The commands for reading a stream as a group.
///
/// All retry through an outage for the URL's retry_for, or as wait_with() says. All are idempotent.
/// @throws backend_error  of every function: no answer, or a refusal    Threads: one for each set of
/// connections.
class group {
 public:
  group(const redis_stream_url& url, const redis::redis_url& server);

  /// @pre no call is in progress
  void wait_with(const std::shared_ptr<retry_policy>& p) {
    reading_.wait_with(p);
    settling_.wait_with(p);
  }

  [[nodiscard]] consumer_name named(const std::string& consumer) const;

  /// Creates the group if it does not exist.    @throws parameter_error  there is no such stream
  void create();

  struct reading {
    bool held = false;    ///< false: another process reads as this consumer
    bool begins = false;  ///< the lease is new: these are the oldest pending entries
    bool are_new = false;
    redis::reply entries{};
  };
  /// Renews the lease, or takes it if it is free, and reads what is pending after `after`; if nothing is,
  /// and `new_ones` is set, reads entries that no consumer has been given.
  [[nodiscard]] reading read(const consumer_name& as, std::uint64_t after, std::string_view count,
                             bool new_ones);
  /// Renews a lease that this process holds. A failure is ignored: the next reading detects it.
  void prolong(const consumer_name& as);
  /// Releases a lease. A failure is ignored: the lease also expires.
  void release(const consumer_name& as);

  struct view {
    std::int64_t length = 0;
    std::int64_t lag = -1;  ///< entries that no consumer was given; -1: the server does not know
    struct waiting {
      std::string consumer;
      std::chrono::milliseconds idle{};  ///< since its last request
    };
    std::vector<waiting> pending{};  ///< consumers with pending entries
  };
  [[nodiscard]] view current_view();

  /// Acknowledges entries by their positions. The only function that another thread may call beside the
  /// reading one: it has its own connections.
  void acknowledge(const std::vector<std::uint64_t>& positions) { acknowledge_by(settling_, positions); }
  /// The same, for the reading thread.
  void pass_over(const std::vector<std::uint64_t>& positions) { acknowledge_by(reading_, positions); }

 private:
  redis::reply ask(std::initializer_list<std::string_view> words) {
    return reading_.ask(where_, words, true);
  }

  void acknowledge_by(redis::server_connections& connections, const std::vector<std::uint64_t>& positions);

  redis_stream_url url_;
  redis::route where_;
  redis::server_connections reading_, settling_;
};

// Entries of a Redis stream as records.

/// An id as a position: milliseconds << 20 | sequence. So ids and positions have the same order.
/// @return nothing if it is not an id, its sequence is 2^20 or more, or its time is after the year 2500
[[nodiscard]] std::optional<std::uint64_t> position_of(std::string_view id) noexcept;
[[nodiscard]] std::string id_of(std::uint64_t position);

/// Appends an entry as a JSON object of its fields, all strings, in their order.
/// @param fields  name, value, ...
void append_json(std::string& out, const redis::reply& fields);

/// Converts entries as XREADGROUP returns them into records, with their fields and the times of their ids.
/// Deleted entries are left out.
/// @param field  the record is the value of this field, and has no value if the entry has no such field;
///         empty: all, as JSON
/// @return the number of deleted entries: they were delivered once, and trimmed before they were settled
/// @throws format_error  an id that no position can represent
std::size_t read_entries(const redis::reply& entries, std::string_view field, source_batch& into);

}  // namespace everseen::redis_stream
