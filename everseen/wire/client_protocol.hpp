#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "everseen/core/base/error.hpp"

/// The words of everseen's own commands, shared by the server and its clients: doc/operations.md, "Commands
/// for programs".
namespace everseen::wire {

/// Incremented with each change that a program of another version would misunderstand.
inline constexpr std::int64_t client_protocol = 4;

/// The longest request of a client: a key or a chunk of 16 MiB, and what is beside it.
inline constexpr std::size_t longest_client_request = std::size_t{17} << 20;

/// Bytes of each time behind TIMES.
inline constexpr std::size_t time_bytes = 8;

/// Of a session: the number of answers that the server remembers, and so the number of requests that its
/// client may have in flight; how long it remembers them after the last request; and the most keys of a
/// batch, or words of another request.
inline constexpr std::size_t requests_in_flight = 16;
inline constexpr std::chrono::hours session_idle{24};
inline constexpr std::size_t session_batch_keys = 65'536;

/// Appended to the reply to a command that only Redis has; it identifies the server as `everseen serve`.
inline constexpr std::string_view unknown_here = " (this is everseen serve)";

/// How a chunk is refused whose key exists. RedisBloom says no more than that the data is bad.
inline constexpr std::string_view loaded_key_exists = "ERR received bad data: the key exists";

/// Why keys have no verdict.
[[nodiscard]] constexpr std::string_view word_of(batch_failure::cause why) noexcept {
  switch (why) {
    case batch_failure::cause::full:
      return "full";
    case batch_failure::cause::storage:
      return "storage";
    case batch_failure::cause::backend:
      return "backend";
    case batch_failure::cause::format:
      return "format";
    case batch_failure::cause::key:
      return "key";
  }
  return "storage";
}

[[nodiscard]] constexpr std::optional<batch_failure::cause> cause_of(std::string_view word) noexcept {
  using cause = batch_failure::cause;
  for (const cause each : {cause::full, cause::storage, cause::backend, cause::format, cause::key})
    if (word == word_of(each)) return each;
  return std::nullopt;
}

}  // namespace everseen::wire
