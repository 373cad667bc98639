#include "everseen/redis/journal/journal_scripts.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include "everseen/redis/journal/lease_times.hpp"
#include "everseen/redis/script/script.hpp"

namespace everseen::redis::journal_scripts {

namespace {

// The fields `checkpoint` and `lease` contain a token that identifies the holder of a lease, a space, and the
// expiry time of the lease in ms.
constexpr std::string_view leases = R"(
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function is_mine(holder, word)
  return holder and string.sub(holder, 1, #word + 1) == word .. ' '
end
local function is_held(holder)
  local left = tonumber(string.match(holder, ' (%d+)$')) - now_ms()
  return left > 0 and left <= longest_ms
end
local function taken(word, life)
  return word .. ' ' .. string.format('%.0f', now_ms() + tonumber(life))
end
)";

/// Precedes them in a script that looks at a lease: how long such leases last.
std::string longest(std::uint64_t ms) {
  return "local longest_ms = " + std::to_string(ms);
}

}  // namespace

/// The order of the checks matters. A repeat of a call comes first: its first copy has moved the end of the
/// journal, so every other check would refuse it. The seal comes before leases, since a sealed journal takes
/// no record from the holder of a lease, either. Whatever else can refuse the record comes before its first
/// byte is written.
const script& append() {
  static const script s = make_script(joined({longest(append_lease_ms), leases, R"(
local call, state, position, writer, number = redis.call, KEYS[1], ARGV[1], ARGV[3], ARGV[4]
local staged = ARGV[9] ~= '' and KEYS[#KEYS-1]
local function unchanged(...)
  if staged then call('UNLINK', staged) end
  return {...}
end
local at = call('HMGET', state, 'end', 'begin', 'lease', writer, ARGV[10] or 'end', 'successor')
if not at[1] then return unchanged('M') end
if at[4] and string.match(at[4], '^%d+') == number then
  call('HSET', state, writer, at[4])
  return unchanged('K')
end
if at[6] then return unchanged('N', at[6]) end
local held = at[3] and at[3] ~= '' and not is_mine(at[3], writer) and is_held(at[3])
if held or at[1] ~= position then
  if ARGV[8] ~= '' and not held then call('HSET', state, 'lease', taken(writer, ARGV[8])) end
  return unchanged(held and 'W' or 'S', at[1], at[2] or '')
end
if ARGV[2] == '' then return {'K'} end
local lanes, lane, record = ARGV[10] and KEYS[3], ARGV[11], nil
if lanes then
  if not at[5] then return unchanged('J') end
  record = call('HGET', lanes, lane) or ''
  if string.sub(record, 1, 8) ~= ARGV[12] then return unchanged('H') end
end
if (staged or ARGV[6] ~= '') and call('STRLEN', KEYS[2]) < tonumber(ARGV[5]) then return unchanged('D') end
-- SET, not SETRANGE, where a chunk begins: one that is left of a torn log may be a staged key, which expires.
if staged then
  if call('STRLEN', staged) ~= tonumber(ARGV[9]) then return unchanged('U') end
  if ARGV[5] ~= '0' then call('SETRANGE', KEYS[2], ARGV[5], '>') end
  call('RENAME', staged, KEYS[#KEYS])
  call('PERSIST', KEYS[#KEYS])
elseif ARGV[5] == '0' and ARGV[6] ~= '' then
  call('SET', KEYS[2], ARGV[6])
elseif ARGV[6] ~= '' then
  call('SETRANGE', KEYS[2], ARGV[5], ARGV[6])
end
if ARGV[7] ~= '' then call('SET', KEYS[#KEYS], ARGV[7]) end
if lanes then
  local names, write = {}, {lane, ARGV[14] .. string.sub(record, ARGV[13]) .. ARGV[15]}
  for i = 16, #ARGV, 2 do names[#names+1] = '\0' .. ARGV[i] end
  local now = #names > 0 and call('HMGET', lanes, unpack(names))
  for i, name in ipairs(names) do
    local sum = tonumber(now[i] or '0')
    if sum then
      write[#write+1] = name
      write[#write+1] = string.format('%.0f', sum + ARGV[15+2*i])
    end
  end
  call('HSET', lanes, unpack(write))
end
call('HSET', state, 'end', ARGV[2], writer, number .. ' ' .. call('TIME')[1], 'lease', '')
return {'K'}
)"}));
  return s;
}

/// A lease that has expired leaves segments half made. Only a client that knows of them (`abandoned`) gets
/// the lease, and the manifest `next` names them until the checkpoint has moved: the client that takes over
/// can remove them.
const script& begin_checkpoint() {
  static const script s = make_script(joined({longest(longest_checkpoint_lease_ms), leases, R"(
local begin, ended, word, life, to_be, abandoned = unpack(ARGV)
local at = redis.call('HMGET', KEYS[1], 'begin', 'checkpoint', 'manifest', 'counts', 'end', 'next', 'successor')
if not at[1] then return {'M'} end
if at[7] then return {'L'} end
if at[1] ~= begin then return {'S', at[1]} end
if at[5] ~= ended then return {'E'} end
if not is_mine(at[2], word) then
  if at[2] and is_held(at[2]) then return {'L'} end
  if (at[6] or '') ~= abandoned then return {'A', at[6] or ''} end
  redis.call('HSET', KEYS[1], 'checkpoint', taken(word, life), 'next', to_be)
end
return {'K', at[3] or '', at[4] or ''}
)"}));
  return s;
}

/// Each step changes the token of the lease, so a copy of a call that arrives late finds a token that is not
/// its own.
const script& place_segment() {
  static const script s = make_script(joined({leases, R"(
local call, state, staged, segment, pieces = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local at = call('HMGET', state, 'begin', 'checkpoint', 'successor')
local is_whole = call('STRLEN', staged) == tonumber(ARGV[3]) and call('BITCOUNT', pieces) == tonumber(ARGV[5])
local answer = not at[1] and 'M' or is_mine(at[2], ARGV[2]) and 'K'
  or (at[3] or not is_mine(at[2], ARGV[1])) and 'S' or not is_whole and 'U'
call('UNLINK', pieces)
if answer then
  call('UNLINK', staged)
  return {answer}
end
-- PERSIST first: a server that loses the end of this must not be left with a segment that expires.
call('PERSIST', staged)
call('RENAME', staged, segment)
call('HSET', state, 'checkpoint', taken(ARGV[2], ARGV[4]))
return {'K'}
)"}));
  return s;
}

const script& commit_checkpoint() {
  static const script s = make_script(joined({leases, R"(
local call, state = redis.call, KEYS[1]
local at = call('HMGET', state, 'begin', 'checkpoint')
if not at[1] then return {'M'} end
if at[1] == ARGV[2] then return {'K'} end
if not is_mine(at[2], ARGV[1]) then return {'S'} end
call('HSET', state, 'begin', ARGV[2], 'manifest', ARGV[3], 'counts', ARGV[4], 'checkpoint', ' 0', 'next', '')
local oldest, fields = call('TIME')[1] - ARGV[5], call('HGETALL', state)
for f = 1, #fields, 2 do
  local last = string.sub(fields[f], 1, 2) == 'w:' and tonumber(string.match(fields[f + 1], ' (%d+)$'))
  if last and last < oldest then call('HDEL', state, fields[f]) end
end
for k = 2, #KEYS do call('UNLINK', KEYS[k]) end
return {'K'}
)"}));
  return s;
}

const script& seal() {
  static const script s = make_script(R"(
if redis.call('EXISTS', KEYS[1]) == 0 then return {'M'} end
redis.call('HSETNX', KEYS[1], 'successor', ARGV[1])
return {redis.call('HGET', KEYS[1], 'successor') == ARGV[1] and 'K' or 'N'}
)");
  return s;
}

const script& empty() {
  static const script s = make_script(R"(
local call, state = redis.call, KEYS[1]
local at = call('HMGET', state, 'end', 'begin', 'next', 'successor')
if not at[1] then return {'M'} end
if at[1] == ARGV[2] then return {'K'} end
if at[4] then return {'N'} end
if at[1] ~= ARGV[1] or (at[2] or '') ~= ARGV[4] or (at[3] or '') ~= ARGV[5] then return {'S'} end
for _, field in ipairs(call('HKEYS', state)) do
  if string.sub(field, 1, 4) == 'job:' then return {'J'} end
end
call('HSET', state, 'begin', ARGV[2], 'end', ARGV[2], 'manifest', ARGV[3], 'counts', '', 'checkpoint', ' 0', 'next', '')
for k = 2, #KEYS do call('UNLINK', KEYS[k]) end
return {'K'}
)");
  return s;
}

}  // namespace everseen::redis::journal_scripts
