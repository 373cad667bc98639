#pragma once

#include <optional>
#include <string>

#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

// One field of a filter's header says when the filter expires: its end. Redis itself expires the other keys
// at a limit one day later, so their memory is freed even if no client returns. A limit that is too late
// costs memory; one that is too early loses keys. Several clients may change the end of a filter
// concurrently, and each may crash at any step, or stop and continue later. The following keeps limits late
// enough.
//
// The header has a round, a number that only increases. In an even round the end is fixed, and limits are
// set; in an odd round the end is about to change, and limits are removed:
//
//      even n, end E ──begin_change──> odd n+1, end E ──change_expiry──> even n+2, end E'
//                                          └──raise_round: its client has crashed──> even n+2, end E
//
//   1. begin_change makes the round odd. Clients that find it odd join it.
//   2. For a later end, all limits are removed: first those of the states, then those of all other keys. A
//      state records the round of the last call that set or removed limits in its partition, and refuses
//      calls of earlier rounds. An earlier end needs no such step.
//   3. change_expiry changes the end and makes the round even, in one step, if the round is still the same.
//      One of several clients in a round succeeds, and the others begin again, so there is always progress.
//   4. give_limits sets the limits that follow from the end of an even round, and records that in `limits` if
//      the round is still the same. Any number of clients may do so concurrently: all set the same limits.
//
// Why this is right. An even round belongs to one end, since each change begins another round. Claim: no
// limit of a key, and no limit that a call in flight can still set, is earlier than the end allows. The claim
// holds when a filter is created, since no client finds it before its keys have the limits of round 0. Each
// step preserves it:
//   - Calls that are sent in an even round set the limit of the header's end in that round. Calls of odd
//     rounds only remove limits.
//   - A change to an earlier end, or back to the same end, allows every limit that was allowed before.
//   - Before a change to a later end in round n+1, each partition has answered a call of round n+1, and
//     refuses calls of earlier rounds from then on. Calls of later rounds did not exist, or change_expiry
//     would have found a later round. So no call in flight can set a limit any more. Nor does any key have
//     one: the second half of the step found the keys that were created before their state lost its limit,
//     and keys created later have the state's limit, since the script that creates them reads the state.
//   - Keys in the slot of the header need no round of their own: the list of jobs loses its limit in the
//     script of change_expiry, and gets one in the scripts that write `limits` or a job.
//
// If a client crashes in an odd round, the filter keeps its previous end, and some keys have no limit. A
// client that opens the filter for writing a minute or more later makes the round even and sets the limits.
// The minute keeps it from interrupting a client that is still at work; if it does so nevertheless, that
// client begins again.
//
// If a server has lost its latest writes, its header may be in an earlier round than states on other servers.
// Their refusal names their round, and the header's round is raised above it.

/// @param name  for messages
/// @throws parameter_error  it has jobs    @throws filter_expired
/// @throws storage_error    it is gone     @throws backend_error, format_error
void expire_at(session& with, const std::string& name, const filter_identity& f,
               std::optional<event_time> when);

/// Gives all keys the limits that follow from the expiry time in the header.
/// @throws storage_error  it is gone    @throws backend_error, format_error
void give_limits(session& with, const filter_identity& f);

}  // namespace everseen::redis
