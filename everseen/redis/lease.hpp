#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/redis/backoff.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/reply.hpp"

namespace everseen::redis {

// The right to be the only one who adds to a partition, for a few seconds at a time: the field `lease` of its
// state, `OWNER:END`, where END is in ms of the server's clock, the only clock that counts. Taking it begins
// a new epoch. While it lasts, the server refuses whatever others want to add; when it has ended, it refuses
// whatever its owner wants to write (scripts.hpp).

/// How long a lease lasts unless it is renewed, as every write of its owner does.
inline constexpr std::chrono::milliseconds lease_life = std::chrono::seconds(5);

/// An owner's name: 32 characters at random.
[[nodiscard]] std::string new_owner();

/// How long a lease lasts yet.
/// @param lease  the field; nil if there is none    @param time  the server's answer to TIME
/// @return nothing if it has ended
[[nodiscard]] std::optional<std::chrono::milliseconds> lease_left(const reply& lease, const reply& time);

/// The same from a script's answer `L<ms>`; nothing if it is another.
[[nodiscard]] std::optional<std::chrono::milliseconds> held_for(std::string_view said);

/// What somebody is told who may not add.
[[nodiscard]] std::string held_message(const remote_filter& f, std::uint32_t partition,
                                       std::chrono::milliseconds left);

/// Pauses of somebody who waits for a lease to end.
class lease_wait {
 public:
  explicit lease_wait(std::chrono::milliseconds patience) noexcept : patience_(patience) {}

  /// Whether it has taken too long since the first pause.
  [[nodiscard]] bool is_over() const noexcept;
  void pause();

 private:
  std::chrono::milliseconds patience_;
  std::optional<std::chrono::steady_clock::time_point> begin_{};
  backoff pauses_{};
};

}  // namespace everseen::redis
