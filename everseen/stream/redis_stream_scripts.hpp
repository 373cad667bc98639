#pragma once

#include <string_view>

/// What runs inside Redis for streams as source and sink. All keys of a call are in one slot.
namespace everseen::redis_stream {

/// Reads entries as a consumer, if nobody else does. May be run again: what was read stays pending, and what
/// is pending behind `after` comes first.
///
/// KEYS  stream, lease
/// ARGV  group, consumer, owner, life of the lease in ms, after (an id), how many, 1 to read new ones, too
/// Returns `L<ms>` somebody else holds the consumer for so long; or {1 the lease is new and reading began at
/// the oldest pending entry (else 0), 1 these were never delivered before (else 0), the entries}.
inline constexpr std::string_view read = R"(
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[3] then return 'L' .. redis.call('PTTL', KEYS[2]) end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
local after, begins = ARGV[5], 0
if not holder then after, begins = '0', 1 end
local function entries(id)
  local found = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', ARGV[6], 'STREAMS', KEYS[1], id)
  return found and found[1][2] or {}
end
local pending = entries(after)
if #pending > 0 or ARGV[7] ~= '1' then return {begins, 0, pending} end
return {begins, 1, entries('>')}
)";

/// Keeps a lease.    KEYS  lease    ARGV  owner, life in ms
inline constexpr std::string_view prolong = R"(
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
)";

/// Gives a lease back.    KEYS  lease    ARGV  owner
inline constexpr std::string_view release = R"(
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
)";

/// KEYS  stream    ARGV  group
/// Returns {length of the stream, entries that the group has not been given or -1, name, number of pending
/// entries and idle time in ms of each consumer}; nil if there is no such group.
inline constexpr std::string_view look = R"(
local function field(list, name)
  for i = 1, #list, 2 do if list[i] == name then return list[i + 1] end end
end
local lag = nil
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  if field(group, 'name') == ARGV[1] then lag = field(group, 'lag') or -1 end
end
if not lag then return nil end
local told = {redis.call('XLEN', KEYS[1]), lag}
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  told[#told + 1] = field(consumer, 'name')
  told[#told + 1] = field(consumer, 'pending')
  told[#told + 1] = field(consumer, 'idle')
end
return told
)";

/// Appends what was not appended before. Positions have 20 digits, so that their order is that of their text:
/// Lua's numbers are exact to 2^53 only.
///
/// KEYS  stream, cursor    ARGV  lane, field, maxlen (empty: none), then position, value, ...
/// Returns how many were appended.
inline constexpr std::string_view append = R"(
local last = redis.call('HGET', KEYS[2], ARGV[1]) or ''
local added = 0
for i = 4, #ARGV, 2 do
  if ARGV[i] > last then
    if ARGV[3] == '' then
      redis.call('XADD', KEYS[1], '*', ARGV[2], ARGV[i + 1])
    else
      redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[3], '*', ARGV[2], ARGV[i + 1])
    end
    last = ARGV[i]
    added = added + 1
  end
end
if added > 0 then redis.call('HSET', KEYS[2], ARGV[1], last) end
return added
)";

}  // namespace everseen::redis_stream
