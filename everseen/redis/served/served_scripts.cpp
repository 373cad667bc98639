#include "everseen/redis/served/served_scripts.hpp"

#include <string_view>

#include "everseen/core/layout/layout.hpp"
#include "everseen/redis/script/script_text.hpp"

namespace everseen::redis::scripts {

namespace {

using script_text::differs;
using script_text::has;
using script_text::make;

// BITFIELD always counts as a write: a replica, or a server without free memory, would refuse a look-up.
// Before Redis 6 there is no other command.
constexpr std::string_view reads_only =
    "local bitfield = redis.pcall('BITFIELD_RO', KEYS[2]).err and 'BITFIELD' or 'BITFIELD_RO'";

constexpr std::string_view open_token = R"(
local state, token, before, words = KEYS[1], KEYS[2], 2, 4
local known = remembered(token, ARGV[2], ARGV[3])
if known then return known end
)";

constexpr std::string_view add_text = R"(
call('SET', token, '', 'PX', ARGV[3])
local out = {}
for key = 1, keys do
  local verdict = judge(key)
  if verdict == '3' and ARGV[4] ~= '1' then break end
  out[key] = verdict
end
count()
local answer = table.concat(out)
call('SET', token, ARGV[2] .. answer, 'PX', ARGV[3])
return answer
)";

constexpr std::string_view open_check = R"(
local state, before, words = KEYS[1], 1, 1
local epoch = call('HGET', state, 'epoch')
if not epoch then return 'M' end
if epoch ~= ARGV[1] then return 'S' end
)";

constexpr std::string_view check_text = R"(
local out = {}
for key = 1, keys do
  local verdict = '0'
  for s = 1, segments do
    if has(segment[s], records[s], (key - 1) * stride[s]) then verdict = '1' break end
  end
  out[key] = verdict
end
return table.concat(out)
)";

constexpr std::string_view open_claim = "local state, lanes = KEYS[1], KEYS[2]";

// If the call is sent again because its answer was lost, it also writes, without a change: a WAIT after it
// then waits for the writes of the first attempt.
constexpr std::string_view open_lane = R"(
if call('HEXISTS', state, ARGV[5]) == 0 then return 'J' end
local lane = ARGV[2]
local record = call('HGET', lanes, lane) or ''
if string.sub(record, 1, 8) ~= ARGV[3] then
  if record ~= '' then call('HSET', state, ARGV[5], '1') end
  return 'P'
end
local before, words = 2, 9
)";

// Fresh events are mostly consecutive, so their positions are copied run by run.
//
// A server that was killed while it wrote its AOF may later run the first commands of this call, and then its
// whole retry (doc/operations.md, "A torn AOF"). So one command writes the record and the counters, before
// any bit: a client that finds the record adds its keys again, which changes nothing if they are there.
// Counters are written as sums, even those of events that are not fresh: a key may be fresh in the first
// attempt and no longer in the retry. A counter that is not a number is left unchanged; a client that reads
// the counters reports it.
constexpr std::string_view claim_text = R"(
local positions, places, each, sub = ARGV[7], ARGV[8], tonumber(ARGV[9]), string.sub
local judged, since, out, kept, raise = 0, nil, {}, {}, {}
for key = 1, keys do
  local verdict = predict(key)
  if verdict == '3' then
    if ARGV[6] == '1' then out[key] = '3' end
    break
  end
  out[key], judged = verdict, key
  local by = 0
  if verdict == '0' then
    since, by = since or key, 1
  elseif since then
    kept[#kept+1] = sub(positions, since * 8 - 7, key * 8 - 8)
    since = nil
  end
  for at = (key - 1) * each * 4, key * each * 4 - 4, 4 do
    local b1, b2, b3, b4 = byte(places, at + 1, at + 4)
    local name = ((b1 * 256 + b2) * 256 + b3) * 256 + b4
    raise[name] = (raise[name] or 0) + by
  end
end
if since then kept[#kept+1] = sub(positions, since * 8 - 7, judged * 8) end
if judged > 0 then
  local names, sums, write = {}, {}, {lane, sub(positions, judged * 8 - 7, judged * 8) ..
    sub(record, tonumber(ARGV[4])) .. table.concat(kept)}
  for name in pairs(raise) do names[#names+1] = name end
  for i, name in ipairs(names) do sums[i] = '\0' .. ARGV[behind+1+name] end
  local now = #sums > 0 and call('HMGET', lanes, unpack(sums))
  for i, name in ipairs(names) do
    local sum = tonumber(now[i] or '0')
    if sum then
      write[#write+1] = sums[i]
      write[#write+1] = string.format('%.0f', sum + raise[name])
    end
  end
  call('HSET', lanes, unpack(write))
  count()
  for key = 1, judged do
    if out[key] == '0' then add(key) end
  end
end
return table.concat(out)
)";

// No client finds the segment until it is listed, so it has a time limit. The step that completes it also
// lists it, so a listed segment always has its full length.
constexpr std::string_view grow_text = R"(
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 'M' end
if epoch ~= ARGV[1] then return 'S' end
local length, bytes = redis.call('STRLEN', KEYS[2]), tonumber(ARGV[2])
if length > bytes then return 'D1' end
local reached = math.min(bytes, length + tonumber(ARGV[3]))
if reached > length then redis.call('SETRANGE', KEYS[2], reached - 1, '\0') end
if reached < bytes then
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
  return reached
end
redis.call('PERSIST', KEYS[2])
redis.call('HSET', KEYS[1], 'epoch', ARGV[5], 'manifest', ARGV[6], ARGV[7], '0')
for i = 3, #KEYS do
  redis.call('UNLINK', KEYS[i])
  redis.call('HDEL', KEYS[1], ARGV[5+i])
end
return 'K'
)";

// The word identifies a copy of the call. The count fields of the state name its segments, even if its list
// cannot be read.
constexpr std::string_view empty_text = R"(
local call, state = redis.call, KEYS[1]
if call('EXISTS', state) == 0 then return 'M' end
local at = call('HMGET', state, 'epoch', 'successor', 'emptied')
if at[3] == ARGV[2] then return 'K' end
if at[2] then return 'N' end
if (at[1] or '') ~= ARGV[1] then return 'S' end
for _, field in ipairs(call('HKEYS', state)) do
  if string.sub(field, 1, 4) == 'job:' then return 'J' end
end
for i = 2, #KEYS do
  call('UNLINK', KEYS[i])
  call('HDEL', state, ARGV[2+i])
end
-- Higher than any before it, though the one that is there may be damage.
local time, epoch = call('TIME'), tonumber(at[1]) or 0
if not (epoch >= 0 and epoch < 2^52) then epoch = 0 end
epoch = string.format('%.0f', math.max(epoch + 1, time[1] * 1000 + math.floor(time[2] / 1000)))
call('HSET', state, 'epoch', epoch, 'manifest', ARGV[3], 'emptied', ARGV[2])
return 'K'
)";

}  // namespace

const script& add(unsigned probes) {
  static const script_text::for_any_probes all(script_text::joined(
      {script_text::may_write, has, differs, script_text::remembered, open_token, script_text::open_partition,
       script_text::segments, script_text::rooms, script_text::judge, add_text}));
  return all[probes];
}

const script& check(unsigned probes) {
  static const script_text::for_any_probes all(
      script_text::joined({reads_only, has, differs, open_check, script_text::segments, check_text}));
  return all[probes];
}

const script& claim(unsigned probes) {
  static const script_text::for_any_probes all(script_text::joined(
      {script_text::may_write, has, differs, open_claim, script_text::open_partition, open_lane,
       script_text::segments, script_text::rooms, script_text::predict, claim_text}));
  return all[probes];
}

const script& grow() {
  static const script one = make(std::string(grow_text));
  return one;
}

const script& empty() {
  static const script one = make(std::string(empty_text));
  return one;
}

}  // namespace everseen::redis::scripts
