#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/redis/wire/reply.hpp"
#include "everseen/redis/wire/slot_map.hpp"

namespace everseen::redis {

/// A reply that says: not done, and somewhere else or later it will be.
struct refusal {
  enum class kind : std::uint8_t {
    moved,       ///< another server owns the slot from now on
    ask,         ///< another server has the key, this once
    later,       ///< the same server, after a pause: it is loading, busy, or keys are between two servers
    not_master,  ///< a server that has lost its role, or a cluster that has lost a server
    no_script,   ///< the same server, at once, if it is sent the text of a script (script/script.hpp)
  };

  kind why = kind::later;
  slot_number slot = 0;
  endpoint to{};       ///< of moved and ask
  std::string text{};  ///< what the server said

  friend bool operator==(const refusal&, const refusal&) = default;
};

/// @param asked  who replied; a redirection may leave out the host, meaning the same
[[nodiscard]] std::optional<refusal> refusal_of(const reply& r, const endpoint& asked);

/// Whether a server will not run such a command for us at all: an ACL, or a command that was renamed away.
/// Said to a command that was sent before, it tells nothing about that attempt.
[[nodiscard]] bool is_denial(const reply& r) noexcept;

/// Whether a reply says that the server will not run scripts for us, ever: an ACL without them, or commands
/// that were renamed away.
[[nodiscard]] bool forbids_scripts(const reply& r) noexcept;
/// What to tell people then.    @param who  the server, or who needs scripts there
[[nodiscard]] std::string scripts_forbidden(std::string_view who);

/// The same where nothing else would do.    @param key  that was to be changed
[[nodiscard]] std::string scripts_needed(std::string_view key);

/// An error without the arguments of ours that it repeats, which may be any bytes.
[[nodiscard]] std::string_view without_arguments(std::string_view said) noexcept;

/// What to tell people when a server answers a command on a key with an error that is no damage.
[[nodiscard]] std::string refused_command(std::string_view key, std::string_view said);

}  // namespace everseen::redis
