#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/scripts.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

/// A script with what it is to be run on.
struct script_call {
  const script* what;
  route to;  ///< its key is the first of the keys
  std::vector<std::string> keys{};
  std::vector<std::string> arguments{};
  /// Whether running it twice gives the same as running it once.
  bool repeatable = true;
  /// Whether replicas are to have it first, where the URL asks for that: what adds keys or claims events.
  bool on_replicas = false;
};

/// Runs scripts on their servers, all at once, and brings the text to a server that lacks it.
/// @return one reply a call, in their order; an error that a script raised is a reply
[[nodiscard]] std::vector<answer> run_scripts(session& with, const std::vector<script_call>& calls);

/// One script, for where a missing answer is exceptional.
/// @throws backend_error  no answer, or an error as the answer    @throws format_error  a key has another
/// type
reply run_script(session& with, script_call call);

/// What to throw for an answer that is none: an outage, or an error of the server.
/// @return the reply, if it is neither
/// @throws backend_error, format_error  as run_script
const reply& expect_reply(const answer& a, const std::string& key);

}  // namespace everseen::redis
