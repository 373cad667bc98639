#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/format/redis_keys.hpp"

namespace everseen::redis {

/// A Lua script and the hash by which a server knows it.
struct script {
  std::string text;
  std::string sha1;  ///< 40 hexadecimal digits
};

/// A script of this text, with its hash.
[[nodiscard]] script make_script(std::string text);
/// A script of which a server remembers the last outcome for each client. A copy of a call whose answer was
/// lost changes nothing and is told the same; one that arrives after a later call changes nothing either.
/// @param body  returns one letter or digit. remembered() adds to its keys the client's token, and to its
///   arguments the number of the call and for how long to remember it, in milliseconds
[[nodiscard]] script make_remembered_script(std::string_view body);
/// The parts of a script as one text.
[[nodiscard]] std::string joined(std::initializer_list<std::string_view> parts);

/// The command that calls a script by its hash.
[[nodiscard]] std::string encode_call(const script& s, std::span<const std::string> keys,
                                      std::span<const std::string> arguments);

/// The same commands, but the first call of the script by its hash becomes a call by its text. From then on
/// the server knows the script.
/// @param wire  from encode_call() and encode()
[[nodiscard]] std::string with_text(std::string_view wire, const script& s);

/// How long a server remembers its answer to a batch, in case the answer is lost.
inline constexpr std::chrono::milliseconds answers_kept = std::chrono::minutes(10);
/// The same if outages may be waited for without a limit.
inline constexpr std::chrono::milliseconds answers_kept_in_an_outage = std::chrono::hours(24);

/// Identifies a batch of a client: a number that increases with each batch of this process, in 20 digits, so
/// that none is a prefix of another. Threads: any number.
[[nodiscard]] inline std::string next_sequence() {
  static std::atomic<std::uint64_t> count{0};
  const std::string digits = std::to_string(count.fetch_add(1, std::memory_order_relaxed));
  return std::string(partition_keys::sequence_bytes - digits.size(), '0') + digits;
}

}  // namespace everseen::redis
