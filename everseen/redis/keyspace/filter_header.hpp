#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// What everseen knows of a filter that another program keeps: doc/format.md, "Attached filters". Only those
/// who open such filters read the record.
struct attached_record {
  std::string record;
  std::string key;     ///< of the other program
  std::string cursor;  ///< its other key, if it has one
};

/// The fields of a filter's header: doc/format.md, "Header".
///
/// `expires_at` alone decides when a filter expires, by the clock of the server that has the header. Once
/// that time has passed, it can no longer change.
struct filter_header {
  everseen::spec spec;                        ///< nothing of it counts if the filter is attached
  std::size_t servers = 1;                    ///< independent servers over which its partitions are spread
  std::optional<event_time> expires_at{};     ///< nothing: never
  std::string expiry_word{};                  ///< identifies the last change of `expires_at`; empty: none
  std::optional<image::filter_id> after{};    ///< the filter that it succeeds and asks first
  std::optional<image::filter_id> next{};     ///< the filter that succeeds it
  image::filter_id origin{};                  ///< the first filter in the chain of successions; may be itself
  std::optional<attached_record> attached{};  ///< set if its bits belong to another program
  std::string instances{};   ///< if it is spread over servers: their ids in its order (server_fleet.hpp)
  bool is_permanent = true;  ///< its creation is finished: no key has a time limit
  event_time read_at{};      ///< the time of that clock when this was read

  [[nodiscard]] bool has_expired() const noexcept { return expires_at && *expires_at <= read_at; }
};

/// @return nothing if there is no header
/// @throws format_error  it is damaged, or belongs to another filter    @throws backend_error
[[nodiscard]] std::optional<filter_header> read_filter_header(server_connections& connections,
                                                              const filter_identity& f);
/// For each of several filters, whether it has expired; one round trip. A filter whose header is unreadable
/// counts as not expired.
/// @throws backend_error  no answer
[[nodiscard]] std::vector<bool> have_expired(server_connections& connections,
                                             std::span<const filter_keys> filters);

/// The number of servers of a filter; 0 if its header does not contain it, is damaged or is missing.
/// @throws backend_error
[[nodiscard]] std::size_t servers_of(server_connections& connections, const filter_keys& f);

/// The lifetime of keys of a filter that no name leads to yet.
inline constexpr std::string_view unseen_life_ms = "172800000";
/// The header expires first, so that a filter with a header is complete.
inline constexpr std::string_view unseen_header_life_ms = "86400000";

/// Makes the header of a filter that no name leads to yet. Its spec and id are those of `f`.
void begin_filter_header(server_connections& connections, const filter_identity& f, const filter_header& h);
/// One filter succeeds another: doc/format.md, "Rebuild".
enum class succession : std::uint8_t {
  decided,
  taken,  ///< another one succeeds
  has_jobs,
  gone,
};
/// Decides which filter succeeds. From then on, the old one accepts neither jobs nor another expiry time.
/// @throws backend_error, format_error
[[nodiscard]] succession decide_succession(server_connections& connections, const filter_identity& old,
                                           const image::filter_id& id);
/// Undoes decide_succession() for a successor that was never completed.    @throws backend_error,
/// format_error
void forget_successor(server_connections& connections, const filter_identity& old,
                      const image::filter_id& id);
/// Ends asking the earlier filter.
/// @param word  random, the same for all attempts of a caller
/// @return false  the filter asks another one or none, has itself a successor, or is gone
/// @throws backend_error, format_error
[[nodiscard]] bool forget_before(server_connections& connections, const filter_identity& f,
                                 const image::filter_id& before, const std::string& word);

/// The time in a reply to TIME.    @throws backend_error  the reply is something else
[[nodiscard]] event_time time_in(const reply& told);
/// The time by the clock of the server that has a key. The clocks of all servers are assumed to agree.
/// @throws backend_error
[[nodiscard]] event_time server_time(server_connections& connections, const std::string& key);

// Errors for clients that have a filter open.

/// It was dropped.
[[nodiscard]] storage_error filter_is_gone(const std::string& key);
/// Its successor takes its place and judges the keys that this one did not.
[[nodiscard]] storage_error filter_was_rebuilt(const std::string& key);
/// One of the two, for a sealed partition: a filter that is being removed names itself as its successor.
[[nodiscard]] storage_error filter_is_sealed(const filter_identity& f, const image::filter_id& successor,
                                             const std::string& key);

/// How long an open filter may be used.
///
/// The header is read again at most once a second while the filter is in use, so a change of the expiry time
/// by another client takes effect within a second. In between, this machine's clock extrapolates the
/// server's. Threads: any number.
class filter_life {
 public:
  /// @param f  must outlive this
  explicit filter_life(const filter_identity& f) : filter_(f) {}

  /// @throws storage_error  the filter has expired, or was dropped    @throws format_error, backend_error
  void require(server_connections& connections);

 private:
  using ours = std::chrono::steady_clock;
  void look(server_connections& connections, bool has_expired);

  const filter_identity& filter_;
  static constexpr ours::rep never_looked = ours::duration::min().count();
  // By this machine's clock.
  std::atomic<ours::rep> look_again_at_{never_looked};
  std::atomic<ours::rep> expires_at_{ours::duration::max().count()};
};

}  // namespace everseen::redis
