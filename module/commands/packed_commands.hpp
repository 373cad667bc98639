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

}  // namespace everseen::redis_module
