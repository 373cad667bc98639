#pragma once

#include <array>
#include <string>
#include <string_view>

#include "everseen/core/layout.hpp"
#include "everseen/redis/scripts.hpp"

/// What several scripts are made of.
namespace everseen::redis::script_text {

/// A script of this text, with its name.
[[nodiscard]] script make(std::string text);

/// A script that is written out for each number of probes, which is the index, so that the inner loop has no
/// inner loop, and positions live in registers: no table is made for them.
/// @param text  with `has`; `$PROBES` becomes the number, and `$SET_ALL` the commands that set the bits of
///              key `key` of `records` in `newest` and leave in `sum` how many were set before
[[nodiscard]] std::array<script, max_probes + 1> for_all_probes(const std::string& text);

// Whether a segment has all bits of a key. Before it stands a `local bitfield`, the command to read with.
// Most keys that a segment does not hold miss at their first bit: one position is unpacked, and one cheap
// command sent. The others are asked at once.
inline constexpr std::string_view has = R"(
local call, take = redis.call, cmsgpack.unpack_limit
local function has(segment, records, start)
  local at, p1 = take(records, 1, start)
  if call('GETBIT', segment, p1) == 0 then return false end
  $HAS_REST
end
)";

// A segment of another type is damage like one of another length. Any other error is not about the segment,
// and is raised.
inline constexpr std::string_view differs = R"(
local function differs(segment, bytes)
  local length = redis.pcall('STRLEN', segment)
  if type(length) == 'number' then return length ~= tonumber(bytes) end
  if string.find(length.err, 'WRONGTYPE', 1, true) then return true end
  redis.call('STRLEN', segment)
end
)";

// A lease is the field `lease` of a state: its owner's 32 characters, a colon, and when it ends, in ms of the
// server's clock.
inline constexpr std::string_view leases = R"(
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function held_by_other(state, owner)
  local lease = redis.call('HGET', state, 'lease')
  if not lease or string.sub(lease, 1, 32) == owner then return nil end
  local left = tonumber(string.sub(lease, 34)) - now_ms()
  if left > 0 then return 'L' .. left end
end
local function holds(state, owner)
  local lease = redis.call('HGET', state, 'lease')
  return lease and string.sub(lease, 1, 32) == owner and tonumber(string.sub(lease, 34)) > now_ms()
end
local function hold(state, owner, life)
  redis.call('HSET', state, 'lease', owner .. ':' .. string.format('%.0f', now_ms() + tonumber(life)))
end
)";

}  // namespace everseen::redis::script_text
