#pragma once

#include "module/values.hpp"

namespace everseen::redis_module {

/// EVERSEEN.CLAIM state records job lane head forgotten-bytes epoch slice digests offsets positions
///                counters-an-event places [name ...]
///
/// The step of a job (doc/format.md, "Jobs"): judges the digests of its events, adds the fresh ones, raises
/// their counters, and takes it down in the record of their lane, all or nothing as far as it comes. `head`
/// is what the record begins with, empty where there is none; so many `forgotten-bytes` of it go.
/// `job`: its id. `positions`: 8 bytes an event, big-endian, ascending; `places`: 4 bytes a counter of an
/// event, big-endian, which of the names that follow it is.
///
/// Answers a character an event up to the last one judged: 0 fresh, 1 seen, 2 late; 3 there was no room, and
/// nothing behind was judged. `P`: the record has another head; `J`: the state does not have the job, which
/// was ended. Others as EVERSEEN.ADD.
int claim_events(api::context* ctx, api::string** words, int count);

}  // namespace everseen::redis_module
