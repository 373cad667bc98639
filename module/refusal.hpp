#pragma once

#include <string>

#include <tl/expected.hpp>

#include "everseen/core/segments.hpp"

namespace everseen::redis_module {

/// Why keys were not judged; for these nothing was changed.
struct refusal {
  enum class kind : std::uint8_t {
    gone,        ///< there is no such state
    damaged,     ///< the state is not what it must be: `text` says why
    unreadable,  ///< nor is what leads to the states: `text` says what, and why
    stale,       ///< the caller planned for another epoch
    segment,     ///< `id` is missing, or has another type or length
    wrong_type,  ///< a key that was named holds something else
    old,         ///< a later batch of this client was answered: nobody waits for this one
    ended,       ///< the job whose events these are
    moving,      ///< a cluster is just moving the keys to another server
    forbidden,   ///< the user may not touch the segments
    growing,     ///< a segment is being made, and a call makes only some of it
    limit,       ///< a call does no more than this
    failed,      ///< the server did not do what it was asked: `text` says what
  };

  kind why = kind::failed;
  std::string text{};
  segment_id id{};

  /// Whether the keys are to be sent once more, and nothing is wrong.
  [[nodiscard]] bool asks_for_more() const noexcept { return why == kind::growing || why == kind::limit; }
};

template <typename T>
using judged = tl::expected<T, refusal>;

/// An error of Redis's protocol, as people read it.
[[nodiscard]] std::string message_of(const refusal& r);

[[nodiscard]] inline tl::unexpected<refusal> refuse(refusal::kind why, std::string text = {}) {
  return tl::unexpected(refusal{why, std::move(text), {}});
}

}  // namespace everseen::redis_module
