#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

// Steps in the header that change the expiry time and the limits of keys. filter_expiry.hpp gives their order
// and proves it. All functions throw backend_error and format_error.

/// The expiry time for which limits are set or, in an odd round, removed.
struct limit_round {
  std::uint64_t number = 0;
  std::optional<event_time> end{};  ///< that of the filter in this round
};

/// Makes the round odd, unless it is; then several clients change the expiry time in the same round. From now
/// on `has_limits` is false.
/// @param end  as the caller knows it    @return nothing: it is another one
/// @throws storage_error  the filter is gone
[[nodiscard]] std::optional<limit_round> begin_change(session& with, const filter_identity& f,
                                                      std::optional<event_time> end);
/// Makes the round a later one, if it is still the one that the caller read.
void raise_round(session& with, const filter_identity& f, std::uint64_t from, std::uint64_t to);

enum class expiry_change : std::uint8_t {
  done,
  superseded,  ///< it is another round
  over,        ///< it has ended
  has_jobs,
  rebuilt,  ///< it is being
  gone,     ///< there is no header
};
/// Gives a filter another expiry time and increments the round. The filter must have no jobs and not be being
/// rebuilt.
[[nodiscard]] expiry_change change_expiry(session& with, const filter_identity& f, const limit_round& in,
                                          std::optional<event_time> to);

/// Records that all partitions have the limits of this round.
/// @param limit   when, in ms since 1970; empty: never
/// @param beside  keys in the slot of the header that get the same limit
/// @return false  it is another round
[[nodiscard]] bool note_limits(session& with, const filter_identity& f, const limit_round& in,
                               const std::string& limit, std::vector<std::string> beside);

/// Gives a filter the expiry time of the previous one, which cannot change any more, if it still asks that
/// one.
/// @return false  it is gone
[[nodiscard]] bool copy_expiry(session& with, const filter_identity& to, const image::filter_id& before,
                               std::optional<event_time> end);

/// When the other keys of a filter with this expiry time expire: a day later, and not before tomorrow.
[[nodiscard]] event_time limit_of(event_time end, event_time now) noexcept;

}  // namespace everseen::redis
