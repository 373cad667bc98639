#pragma once

#include <optional>
#include <string>

#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

// When a filter ends: one field of its header says so. The other keys are given limits a day later, so that
// their memory comes back even if nobody comes again. A limit that is too late costs memory; one that is too
// early loses keys. Several clients may give one filter ends at the same time, and each may die anywhere, or
// stop and continue later. What keeps limits late enough:
//
// The header has a round, a number that only grows. In an even round the end is fixed, and limits are set; in
// an odd one the end is about to change, and limits are taken off:
//
//      even n, end E ──begin_change──> odd n+1, end E ──change_expiry──> even n+2, end E'
//                                          └──raise_round: whoever began it has died──> even n+2, end E
//
//   1. begin_change makes the round odd. Clients that find it odd join it.
//   2. For a later end, all limits are taken off: first those of the states, then those of all other keys. A
//      state notes the round of the last call that has set or taken off limits in its partition, and refuses
//      calls of earlier rounds. An earlier end needs no such step.
//   3. change_expiry changes the end and makes the round even, in one step, if the round is still the same.
//   Of
//      several clients in a round one succeeds, and the others begin again: so there is always progress.
//   4. give_limits sets the limits of the end of an even round, and notes `limits` if the round is still the
//      same. Any number of clients may do so concurrently, since all set the same.
//
// Why this is right. An even round belongs to one end, since each change makes another round. Claim: no limit
// that a key has, and none that a call on its way can still set, is earlier than the end allows. The claim
// holds when a filter is made, as nobody finds it before its keys have the limits of round 0. Each step keeps
// it:
//   - Calls that are sent in an even round set the limit of the end that the header has then. Calls of odd
//     rounds only take limits off.
//   - A change to an earlier end, and one back to the same end, allows what was allowed before.
//   - Before a change to a later end in round n+1, each partition has answered a call of round n+1: so it
//     refuses calls of earlier rounds from then on. Calls of later rounds did not exist, or change_expiry
//     would have found a later round. So no call on its way can set a limit any more, and no key has one:
//     what was made before its state lost its limit was found by the second half of the step, and what was
//     made afterwards has the state's limit, as it is made in one script with a look at the state.
//   - In the slot of the header no round is noted beside it: the list of jobs loses its limit within
//     change_expiry, and gets one within the scripts that note `limits` or a job.
//
// If a client dies in an odd round, the filter has the end that it had, and some keys have no limit. Whoever
// opens it to write a minute later makes the round even and sets them. A minute, so that it does not stop a
// client that is at it; if it does all the same, that one begins again.
//
// A header that its server has lost a part of may be in an earlier round than states on other servers. Their
// refusal says in which round they are, and the header's is raised above it.

/// @param name  for messages
/// @throws parameter_error  it has jobs    @throws filter_expired
/// @throws storage_error    it is gone     @throws backend_error, format_error
void expire_at(session& with, const std::string& name, const filter_identity& f,
               std::optional<event_time> when);

/// Gives all keys the limits that follow from the expiry time in the header.
/// @throws storage_error  it is gone    @throws backend_error, format_error
void give_limits(session& with, const filter_identity& f);

}  // namespace everseen::redis
