#pragma once

#include <string>

#include <tl/expected.hpp>

#include "everseen/core/partition/segments.hpp"

namespace everseen::redis_module {

/// Why keys were not judged. Nothing was changed for them.
struct refusal {
  enum class kind : std::uint8_t {
    gone,        ///< there is no such state
    damaged,     ///< the state is invalid: `text` has the reason
    unreadable,  ///< the path to the states is invalid: `text` says where, and why
    stale,       ///< the caller's epoch is not the current one
    segment,     ///< `id` is missing, or has another type or length
    wrong_type,  ///< a named key has another type
    old,         ///< a later batch of this client was answered; this one is obsolete
    ended,       ///< the job of these events has ended
    moving,      ///< a cluster is moving the keys to another server
    forbidden,   ///< the user may not access the segments
    growing,     ///< a segment is being created; each call does a part of it
    limit,       ///< the limit of work per call is reached
    failed,      ///< the server refused a command: `text` says which
  };

  kind why = kind::failed;
  std::string text{};
  segment_id id{};

  /// Whether the keys should be sent again, without any error.
  [[nodiscard]] bool asks_for_more() const noexcept { return why == kind::growing || why == kind::limit; }
};

template <typename T>
using judged = tl::expected<T, refusal>;

/// A readable error of the Redis protocol.
[[nodiscard]] std::string message_of(const refusal& r);

[[nodiscard]] inline tl::unexpected<refusal> refuse(refusal::kind why, std::string text = {}) {
  return tl::unexpected(refusal{why, std::move(text), {}});
}

}  // namespace everseen::redis_module
