#pragma once

#include "module/server/values.hpp"

namespace everseen::redis_module {

/// EVERSEEN.ADDPACKED key token slice sequence life digests [offsets]
///
/// Judges the digests and adds the fresh ones; replies with a character for each. `token` is a string beside
/// the value that keeps the sequence number and the reply for `life` ms: if the reply is lost, the client
/// sends the same call again and gets the same reply.
int add_packed(api::context* ctx, api::string** words, int count);

/// EVERSEEN.CHECKPACKED key slice digests [offsets]
int check_packed(api::context* ctx, api::string** words, int count);

/// EVERSEEN.CLAIMPACKED key records lane head forgotten slice digests offsets positions counters places
///                      [name ...]
///
/// The step of a job (doc/format.md, "Jobs"): judges the digests of its events, adds the fresh ones,
/// increments their counters, and stores this in the record of their lane, a field of the hash `records`,
/// where a field with an empty name marks a job that has not ended. All of it is atomic. `head` is the start
/// of the lane's record, empty if there is none; the first `forgotten` bytes of the record are removed.
/// `positions`: 8 bytes per event, big-endian, ascending. `places`: 4 bytes for each of the `counters` of an
/// event, big-endian: an index into the names that follow.
///
/// Replies with a character per event, up to and including the first one without room (3); no later event was
/// judged.
int claim_packed(api::context* ctx, api::string** words, int count);

}  // namespace everseen::redis_module
