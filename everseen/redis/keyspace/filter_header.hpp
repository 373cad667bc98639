#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/redis/keyspace/attachment.hpp"
#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// What the header of a filter says: doc/format.md, "Header".
///
/// `expires_at` alone decides when a filter ends, by the clock of the server that has the header: once that
/// has come nothing changes it any more. The limits of the other keys only bring their memory back.
struct filter_header {
  everseen::spec spec;                      ///< of an attached filter spec_without_partitions()
  std::size_t servers = 1;                  ///< independent ones, over which its partitions are spread
  std::optional<event_time> expires_at{};   ///< nothing: never
  std::optional<image::filter_id> after{};  ///< the filter that it succeeds, and asks first
  std::optional<image::filter_id> next{};   ///< the one that succeeds it
  image::filter_id origin{};                ///< the first of all that succeeded one another; maybe itself
  std::optional<attachment> attached{};     ///< its bits are another program's
  std::string instances{};  ///< of one that is spread over servers, their ids in its order (server_fleet.hpp)
  event_time now{};         ///< by that clock, when this was read
  bool has_limits = false;  ///< the other keys have the limits that belong to this end
  std::uint64_t round = 0;  ///< in which limits are set, or, if odd, the end is changed: filter_expiry.hpp
  event_time round_began{};  ///< if it is odd, by that clock

  [[nodiscard]] bool is_being_changed() const noexcept { return round % 2 == 1; }
  [[nodiscard]] bool has_expired() const noexcept { return expires_at && *expires_at <= now; }
};

/// @return nothing: there is none
/// @throws format_error  it is damaged, or another filter's    @throws backend_error
[[nodiscard]] std::optional<filter_header> read_filter_header(session& with, const filter_identity& f);
/// Of several filters whether they have ended, in one exchange. What cannot be read has not.
/// @throws backend_error  no answer
[[nodiscard]] std::vector<bool> have_expired(session& with, std::span<const filter_keys> filters);

/// Over how many servers a filter is spread; 0 where its header does not say, is damaged or gone.
/// @throws backend_error
[[nodiscard]] std::size_t servers_of(session& with, const filter_keys& f);

/// The filter that one asks first; nothing where its header does not say, or is gone.    @throws
/// backend_error
[[nodiscard]] std::optional<image::filter_id> asks_before(session& with, const filter_keys& f);

/// What the field `limits` holds once they belong to this end.
[[nodiscard]] std::string limits_field(std::optional<event_time> end);

/// How long keys of a filter live that nobody can find.
inline constexpr std::string_view unseen_life_ms = "172800000";
/// The header less, so that what has one is whole.
inline constexpr std::string_view unseen_header_life_ms = "86400000";

/// Makes the header of a filter that nobody finds yet. Its spec and id are those of `f`.
void begin_filter_header(session& with, const filter_identity& f, const filter_header& h);
/// One filter takes another one's place: doc/format.md, "Rebuild".
enum class succession : std::uint8_t {
  decided,
  taken,  ///< another one succeeds
  has_jobs,
  gone,
};
/// Decides which filter succeeds: from then on the old one gets no job and no other end.
/// @throws backend_error, format_error
[[nodiscard]] succession decide_succession(session& with, const filter_identity& old,
                                           const image::filter_id& by);
/// Takes that back of one that was never made whole.    @throws backend_error, format_error
void forget_successor(session& with, const filter_identity& old, const image::filter_id& by);
/// From now on it does not ask the one before it.
/// @param word  random, one for all attempts of a caller
/// @return false  it asks another one, or none, or is succeeded itself, or gone
/// @throws backend_error, format_error
[[nodiscard]] bool forget_before(session& with, const filter_identity& f, const image::filter_id& before,
                                 const std::string& word);

/// When the other keys of a filter expire.
inline constexpr std::chrono::milliseconds later_than_the_end = std::chrono::hours(24);
/// What TIME answered.    @throws backend_error  something else
[[nodiscard]] event_time time_in(const reply& told);
/// The time by the clock of the server that has a key. Clocks of other servers are taken to agree.
/// @throws backend_error
[[nodiscard]] event_time server_time(session& with, const std::string& key);

/// The filter is sealed: another one has taken its place, and what was not judged is judged there.
class filter_is_succeeded final : public storage_error {
 public:
  explicit filter_is_succeeded(const std::string& key);
};

/// What whoever has a filter open is told once it was dropped.
[[nodiscard]] storage_error filter_is_gone(const std::string& key);

}  // namespace everseen::redis
