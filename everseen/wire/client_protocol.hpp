#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "everseen/core/base/error.hpp"

/// The words of everseen's own commands, shared by the server and its clients: doc/operations.md, "Commands
/// of everseen".
namespace everseen::wire {

/// Incremented with each change that a program of another version would misunderstand.
inline constexpr std::int64_t client_protocol = 1;

/// Appended to the reply to a command that only Redis has; it identifies the server as `everseen serve`.
inline constexpr std::string_view unknown_here = " (this is everseen serve)";

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
