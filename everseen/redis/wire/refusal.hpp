#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/redis/wire/reply.hpp"
#include "everseen/redis/wire/slot_map.hpp"

namespace everseen::redis {

/// A reply to a command that was not run, and that may be sent again, elsewhere or later.
struct refusal {
  enum class kind : std::uint8_t {
    moved,       ///< another server owns the slot from now on
    ask,         ///< another server has the key, this once
    later,       ///< the same server, after a pause: it is loading, busy, or cannot save; keys are migrating
    not_master,  ///< a server that has lost its role or its replicas, or a cluster that has lost a server
    no_script,   ///< the same server, immediately, with the text of the script
  };

  kind why = kind::later;
  slot_number slot = 0;
  endpoint target{};   ///< of moved and ask
  std::string text{};  ///< the text of the reply

  friend bool operator==(const refusal&, const refusal&) = default;
};

/// @param asked  the server that replied; a redirection without a host refers to the same host
[[nodiscard]] std::optional<refusal> refusal_of(const reply& r, const endpoint& asked);

/// Whether the server never runs such a command for this user: an ACL forbids it, or it was renamed. In the
/// answer to a retry, this says nothing about the first attempt.
[[nodiscard]] bool is_denial(const reply& r) noexcept;

/// Whether this is a denial of scripts as such.
[[nodiscard]] bool forbids_scripts(const reply& r) noexcept;
/// The message for users if an operation needs scripts and they are denied.    @param key  the key to be
/// changed
[[nodiscard]] std::string scripts_needed(std::string_view key);

/// An error without the arguments that it repeats, which may be any bytes.
[[nodiscard]] std::string_view without_arguments(std::string_view message) noexcept;

/// The message for users when a command on a key fails for another reason than damage.
[[nodiscard]] std::string refused_command(std::string_view key, std::string_view message);

}  // namespace everseen::redis
