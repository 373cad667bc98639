#pragma once

#include <array>
#include <mutex>
#include <string>
#include <string_view>

#include "everseen/core/layout/layout.hpp"
#include "everseen/redis/script/script.hpp"

/// Scripts that read and set the bits of keys in strings of Redis.
namespace everseen::foreign {

/// A script with a version for each number of probes, in which the loop over the probes is unrolled:
/// positions are in registers and need no table.
///
/// A version is generated when it is first used: most filters need one or two of the 64.    Threads: any
/// number.
class for_any_probes {
 public:
  /// @param text  contains `has`. `$PROBES` is replaced by the number, and `$SET_ALL` by the commands that
  ///   set the bits whose positions begin at `start` of `records` in `newest`; they leave the number of newly
  ///   set bits in `sum`
  explicit for_any_probes(std::string text) : text_(std::move(text)) {}

  /// @pre 1 <= probes <= max_probes
  [[nodiscard]] const redis::script& operator[](unsigned probes) const;

 private:
  std::string text_;
  mutable std::array<std::once_flag, max_probes + 1> once_{};
  mutable std::array<redis::script, max_probes + 1> all_{};
};

namespace probe_scripts {

/// For `has` in a script that writes.
inline constexpr std::string_view may_write = "local bitfield = 'BITFIELD'";

// Whether a segment has all bits of a key. Needs a `local bitfield`, the command to read with, before it.
// Most absent keys miss at their first bit, so that one is checked alone, with one cheap command. The others
// are read together.
inline constexpr std::string_view has = R"(
local call, take = redis.call, cmsgpack.unpack_limit
local function has(segment, records, start)
  local at, p1 = take(records, 1, start)
  if call('GETBIT', segment, p1) == 0 then return false end
  $HAS_REST
end
)";

// Returns the remembered answer if this is the client's last batch.
inline constexpr std::string_view remembered = R"(
local function remembered(token, asked, life)
  local last = redis.call('GET', token)
  local sequence = last and string.sub(last, 1, #asked) or ''
  if sequence == asked then
    redis.call('PEXPIRE', token, life)
    return string.sub(last, #asked + 1)
  end
  if sequence > asked then return 'O' end
end
)";

}  // namespace probe_scripts

}  // namespace everseen::foreign
