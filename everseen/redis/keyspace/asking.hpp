#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// Sends one repeatable command about one key.
/// @throws format_error  the key has another type    @throws backend_error  no answer, or an error as the
///   answer
[[nodiscard]] reply ask_about(server_connections& connections, const route& key,
                              std::initializer_list<std::string_view> words);

/// Bytes that one command reads from a long string, or writes to it, where it need not be done in one step. A
/// reply counts only once it is whole, so over a link that is cut again and again only short ones arrive;
/// those that did are not asked for again. Commands are pipelined, so a good link is as fast as with longer
/// ones.
inline constexpr std::uint64_t piece_bytes = std::uint64_t{16} << 10;
/// Requests that are sent together: limits the memory that they need on both sides.
inline constexpr std::size_t requests_at_once = 256;

/// Bytes of a string.
struct string_range {
  route source;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
/// Reads ranges, piece by piece: not in one step.
/// @return the bytes of each; fewer where the string ends
/// @throws format_error  a key has another type    @throws backend_error  no answer, or an error as the
/// answer
[[nodiscard]] std::vector<std::string> read_ranges(server_connections& connections,
                                                   std::span<const string_range> ranges);

/// The error for a key that is damaged or missing.
[[nodiscard]] format_error damaged_key(const std::string& key, const std::string& subject);

/// Milliseconds since 1970, the form of all times in fields.
[[nodiscard]] std::string to_text(event_time t);

/// A long string that a script takes over. It is stored by a command of its own, since Redis hashes every
/// byte that goes through a script.
struct staged_string {
  std::string key{};      ///< empty: there is none
  std::string command{};  ///< stores it, from encode()
  std::size_t begin = 0;  ///< of its bytes in the command
  std::size_t bytes = 0;
};

/// A call of a script. Running it twice must have the effect of running it once, for as long as `repeatable`
/// says.
struct script_call {
  const script* called;
  route destination;  ///< its key is the first of the keys
  std::vector<std::string> keys{};
  std::vector<std::string> arguments{};
  /// As in request: set for calls that add keys, claim events or rebuild a filter.
  bool on_replicas = false;
  /// Stored before the script runs; the reply to its command precedes the script's. A command counts only
  /// once it has arrived whole. So if the connection is lost, the string is sent in pieces, of which those
  /// that arrived are not sent again, and then the script is called alone.
  staged_string staged{};
  /// Commands to run after it. Their replies follow the script's.
  std::string after{};
  std::size_t commands_after = 0;
  repetition repeatable = true;
};

/// The same call, which the server of its first key remembers.
/// @pre its script is one of make_remembered_script()
[[nodiscard]] script_call remembered(const server_connections& connections, script_call call);

/// Runs scripts on their servers, all in parallel.
/// @return one answer per call, in the same order; an error raised by a script is a reply
[[nodiscard]] std::vector<answer> run_scripts(server_connections& connections,
                                              std::vector<script_call> calls);

/// Runs one script, for callers to which a missing answer is exceptional.
/// @throws backend_error  no answer, or an error as the answer    @throws format_error  a key has another
///   type
reply run_script(server_connections& connections, script_call call);

/// Sends requests, a limited number at a time. Every request must be answered without an error.
/// @throws backend_error, format_error  as run_script
std::vector<answer> exchange_all(server_connections& connections, const std::vector<request>& requests);

/// Call it before the first step of an operation that cannot be finished without scripts.
/// @throws backend_error  the server that has a key forbids them, or does not answer
void require_scripts(server_connections& connections, const route& destination);

/// One reply of an answer that is neither an outage nor an error; by default the last.
/// @param after  the number of replies that follow it
/// @throws backend_error, format_error  as run_script
const reply& expect_reply(const answer& a, const std::string& key, std::size_t after = 0);

/// The error for a key that a client wrote several times and did not find afterwards.
[[nodiscard]] backend_error lost_data(const std::string& key);

/// For a script that did not find its staged string.
/// @param a  of a script_call with `staged`
/// @throws backend_error  always, with the server's reply to that command; format_error  as run_script
[[noreturn]] void refuse_lack(const answer& a, const std::string& key);

}  // namespace everseen::redis
