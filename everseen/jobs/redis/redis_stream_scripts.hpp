#pragma once

#include <string_view>

/// Lua scripts for streams as source and sink. All keys of a call are in one slot.
namespace everseen::redis_stream {

/// Creates a group that knows how many entries were added before its first one. Otherwise the server does not
/// count what the group has read, or not read, before it has read something.
///
/// KEYS  stream    ARGV  group, 0 (all entries) or $ (later ones)
/// Returns OK, or the error of XGROUP CREATE. Redis 6 does not count entries.
inline constexpr std::string_view create_group = R"(
local create = {'XGROUP', 'CREATE', KEYS[1], ARGV[1], ARGV[2]}
local told, facts = redis.pcall('XINFO', 'STREAM', KEYS[1]), {}
for i = 1, #told, 2 do facts[told[i]] = told[i + 1] end
if facts['entries-added'] then
  create[6] = 'ENTRIESREAD'
  create[7] = facts['entries-added'] - (ARGV[2] == '0' and facts['length'] or 0)
end
return redis.pcall(unpack(create))
)";

/// Reads entries as a consumer, unless another process does. Idempotent: entries that were read stay
/// pending, and those pending after `after` come first.
///
/// KEYS  stream, lease
/// ARGV  group, consumer, owner, life of the lease in ms, after (an id), how many, 1 to also read new ones
/// Returns `L<ms>` if another process holds the consumer for that long; or {1 if the lease is new and
/// reading began at the oldest pending entry, else 0; 1 if these were never delivered before, else 0; the
/// entries}.
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

/// Renews a lease.    KEYS  lease    ARGV  owner, life in ms
inline constexpr std::string_view prolong = R"(
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
)";

/// Releases a lease.    KEYS  lease    ARGV  owner
inline constexpr std::string_view release = R"(
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
)";

/// KEYS  stream    ARGV  group
/// Returns {length of the stream, entries that the group has not been given or -1, then name, number of
/// pending entries and idle time in ms of each consumer}; nil if there is no such group.
inline constexpr std::string_view view_group = R"(
local function field(list, name)
  for i = 1, #list, 2 do if list[i] == name then return list[i + 1] end end
end
local lag, read = nil, nil
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  if field(group, 'name') == ARGV[1] then
    lag = field(group, 'lag') or -1
    read = field(group, 'entries-read')
  end
end
if not lag then return nil end
-- Since 7.4, Redis leaves out of the lag what was trimmed before it was read.
local added = field(redis.call('XINFO', 'STREAM', KEYS[1]), 'entries-added')
if lag >= 0 and read and added then lag = math.max(lag, added - read) end
local told = {redis.call('XLEN', KEYS[1]), lag}
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  told[#told + 1] = field(consumer, 'name')
  told[#told + 1] = field(consumer, 'pending')
  told[#told + 1] = field(consumer, 'idle')
end
return told
)";

// How appending survives a crash: if the server is killed while a script writes, part of the script may be
// replayed later, and then the client's retry as a whole (doc/redis.md, "A torn AOF"). An entry cannot
// be distinguished from its repetition, so an earlier call writes the plan: which entries there will be. A
// caller that finds a plan that was not carried out removes these entries, wherever they are, and makes a
// new plan. A plan is two commands, and so a block of its own in the AOF: a single command may be lost
// behind a block that was left open.
//
// The cursor's fields: by lane, the last appended position; by a 0 byte and lane, the times of its plans, of
// which all but the last were abandoned, empty if there is none; by a 0 byte, the latest time of all plans.
// A plan's entries have its time, and numbers from 0 on. No lane's name begins with a 0 byte.

/// Plans an append, unless everything was appended.
///
/// KEYS  stream, cursor    ARGV  lane, the last position
inline constexpr std::string_view plan = R"(
if ARGV[2] <= (redis.call('HGET', KEYS[2], ARGV[1]) or '') then return 0 end
local now = redis.call('TIME')
local time = now[1] * 1000 + math.floor(now[2] / 1000)
time = math.max(time, tonumber(redis.call('HGET', KEYS[2], '\0') or '0') + 1)
local told = redis.pcall('XINFO', 'STREAM', KEYS[1])
for i = 1, #told, 2 do
  if told[i] == 'last-generated-id' then
    time = math.max(time, tonumber(string.match(told[i+1], '%d+')) + 1)
  end
end
time = string.format('%.0f', time)
local given_up = redis.call('HGET', KEYS[2], '\0' .. ARGV[1]) or ''
redis.call('HSET', KEYS[2], '\0', time)
redis.call('HSET', KEYS[2], '\0' .. ARGV[1], string.sub(given_up .. ' ' .. time, -1000))
return 1
)";

/// Appends what was not appended before, as planned. Positions have 20 digits, so that their text sorts like
/// the numbers: Lua's numbers are exact only up to 2^53. A command without effect is not written to the AOF:
/// so at least one of the entries to be removed always exists.
///
/// KEYS  stream, cursor    ARGV  lane, maxlen (empty: none), then for each record, at most 1000: position,
///       number of words, words: name, value, ...
/// Returns the number of appended entries; -1 if the plan does not exist, or is too old because another
/// client has appended: plan again.
inline constexpr std::string_view append = R"(
local last, first = redis.call('HGET', KEYS[2], ARGV[1]) or '', 3
local function after(at) return at + 2 + ARGV[at + 1] end
while first <= #ARGV and ARGV[first] <= last do first = after(first) end
if first > #ARGV then return 0 end
local times = {}
for time in string.gmatch(redis.call('HGET', KEYS[2], '\0' .. ARGV[1]) or '', ' (%d+)') do
  times[#times + 1] = time
end
local time, number = times[#times], 0
if not time then return -1 end
local function add(at)
  local id, added = time .. '-' .. number, nil
  number = number + 1
  if ARGV[2] == '' then
    added = redis.pcall('XADD', KEYS[1], id, unpack(ARGV, at + 2, after(at) - 1))
  else
    added = redis.pcall('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], id, unpack(ARGV, at + 2, after(at) - 1))
  end
  return added
end
for i = 1, #times - 1 do
  local placed = add(first)
  if type(placed) == 'table' then break end
  local ids = {placed}
  for n = 0, 1099 do ids[#ids + 1] = times[i] .. '-' .. n end
  redis.call('XDEL', KEYS[1], unpack(ids))
end
local at, count = first, 0
while at <= #ARGV do
  local added = add(at)
  if type(added) == 'table' then
    if at == first and string.find(added.err, 'equal or smaller', 1, true) then return -1 end
    return added
  end
  last, at, count = ARGV[at], after(at), count + 1
end
redis.call('HSET', KEYS[2], ARGV[1], last, '\0' .. ARGV[1], '')
return count
)";

}  // namespace everseen::redis_stream
