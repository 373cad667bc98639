#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/script/script.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// A call of a script. Running it twice has the effect of running it once.
struct script_call {
  const script* what;
  route to;  ///< its key is the first of the keys
  std::vector<std::string> keys{};
  std::vector<std::string> arguments{};
  /// As in request: set for what adds keys or claims events.
  bool on_replicas = false;
  /// Commands, from encode(), to run before the script each time it is sent, on the same server: with bytes
  /// that the script does not read. Their replies precede that of the script.
  std::string before{};
  std::size_t commands_before = 0;
  /// Commands that run after it. Their replies come after that of the script.
  std::string after{};
  std::size_t commands_after = 0;
};

/// Runs scripts on their servers, all at once.
/// @return an answer a call, in their order; an error that a script raised is a reply
[[nodiscard]] std::vector<answer> run_scripts(session& with, std::vector<script_call> calls);

/// One script, for callers to which a missing answer is exceptional.
/// @throws backend_error  no answer, or an error as the answer    @throws format_error  a key has another
/// type
reply run_script(session& with, script_call call);

/// Sends requests, a limited number at a time. All replies must arrive and be no errors.
/// @throws backend_error, format_error  as run_script
std::vector<answer> exchange_all(session& with, const std::vector<request>& requests);

/// To be called before the first step of an operation that cannot be finished without scripts.
/// @throws backend_error  the server that has a key forbids them, or does not answer
void require_scripts(session& with, const route& at);

/// One reply of an answer, if it is neither an outage nor an error: by default the last.
/// @param after  how many replies follow it
/// @throws backend_error, format_error  as run_script
const reply& expect_reply(const answer& a, const std::string& key, std::size_t after = 0);

/// For a script that did not find what the last command before it was to write.
/// @param a  of a script_call with `before`
/// @throws backend_error  always, with what the server said of that command; format_error  as run_script
[[noreturn]] void refuse_lack(const answer& a, const std::string& key);

}  // namespace everseen::redis
