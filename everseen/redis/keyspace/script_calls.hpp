#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/script/script.hpp"
#include "everseen/redis/transport/session.hpp"

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
  /// Commands, from encode(), that run before the script each time it is sent, on the same server: with bytes
  /// that the script need not see. Their replies come before that of the script.
  std::string before{};
  std::size_t commands_before = 0;
  /// Commands that run after it. Their replies come after that of the script.
  std::string after{};
  std::size_t commands_after = 0;
};

/// Runs scripts on their servers, all at once, and brings the text to a server that lacks it.
/// @return an answer a call, in their order; an error that a script raised is a reply
[[nodiscard]] std::vector<answer> run_scripts(session& with, std::vector<script_call> calls);

/// One script, for where a missing answer is exceptional.
/// @throws backend_error  no answer, or an error as the answer    @throws format_error  a key has another
/// type
reply run_script(session& with, script_call call);

/// Sends requests, some at a time, each of whose replies is to be there and no error.
/// @throws backend_error, format_error  as run_script
std::vector<answer> exchange_all(session& with, const std::vector<request>& requests);

/// Of what cannot be finished without scripts nothing is begun.
/// @throws backend_error  the server that has a key forbids them, or does not answer
void require_scripts(session& with, const route& at);

/// What to throw for an answer that is none: an outage, or an error of the server.
/// @param after  how many commands followed the one that is asked about
/// @return the reply, if it is neither
/// @throws backend_error, format_error  as run_script
const reply& expect_reply(const answer& a, const std::string& key, std::size_t after = 0);

/// What to throw for a script that lacks what the last command before it was to bring.
/// @param a  of a script_call with `before`
/// @throws backend_error  always, with what the server said of that command; format_error  as run_script
[[noreturn]] void refuse_lack(const answer& a, const std::string& key);

}  // namespace everseen::redis
