#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

// What setting limits and ends does in the header: filter_expiry.hpp says in which order, and why.
// All of it throws backend_error and format_error.

/// What limits are set for, or, in an odd round, taken off for.
struct limit_round {
  std::uint64_t number = 0;
  std::optional<event_time> end{};  ///< that of the filter in this round
};

/// Makes the round odd, unless it is; then several clients change the end in the same round. From now on
/// `has_limits` is false.
/// @param end  as the caller knows it    @return nothing: it is another one    @throws storage_error  it is
/// gone
[[nodiscard]] std::optional<limit_round> begin_change(session& with, const filter_identity& f,
                                                      std::optional<event_time> end);
/// Makes the round a later one, if it is the one that the caller believes.
void raise_round(session& with, const filter_identity& f, std::uint64_t from, std::uint64_t to);

enum class expiry_change : std::uint8_t {
  done,
  superseded,  ///< it is another round
  over,        ///< it has ended
  has_jobs,
  rebuilt,  ///< it is being
  gone,     ///< there is no header
};
/// Gives a filter without jobs, which is not being rebuilt, another end, and makes the round the next one.
[[nodiscard]] expiry_change change_expiry(session& with, const filter_identity& f, const limit_round& in,
                                          std::optional<event_time> to);

/// Puts down that all partitions have the limits of this round.
/// @param limit   when, in ms since 1970; empty: never
/// @param beside  keys in the slot of the header that are to have it as well
/// @return false  it is another round
[[nodiscard]] bool note_limits(session& with, const filter_identity& f, const limit_round& in,
                               const std::string& limit, std::vector<std::string> beside);

/// Gives a filter the end of the one before, which cannot change any more, if it still asks that one.
/// @return false  it is gone
[[nodiscard]] bool copy_expiry(session& with, const filter_identity& to, const image::filter_id& before,
                               std::optional<event_time> end);

/// When the other keys of a filter expire that ends then: a day later, and not before tomorrow.
[[nodiscard]] event_time limit_of(event_time end, event_time now) noexcept;

}  // namespace everseen::redis
