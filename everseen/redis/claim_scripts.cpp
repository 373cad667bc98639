#include "everseen/redis/claim_scripts.hpp"

#include <array>
#include <string>
#include <string_view>

#include "everseen/core/layout.hpp"
#include "everseen/redis/script_text.hpp"

namespace everseen::redis::scripts {

namespace {

// The record is written before the counters: where one of these has been overwritten by somebody else, an
// event must not be added and then forgotten. Whoever reads the counters finds the wrong one.
constexpr std::string_view claim_text = R"(
local state, lanes, counters, newest = KEYS[1], KEYS[2], KEYS[3], KEYS[#KEYS]
local epoch = call('HGET', state, 'epoch')
if not epoch then return 'M' end
if epoch ~= ARGV[1] then return 'S' end
local held = held_by_other(state, '')
if held then return held end
local lane = ARGV[2]
local record = call('HGET', lanes, lane) or ''
if string.sub(record, 1, 8) ~= ARGV[3] then return 'P' end
local segments, events = #KEYS - 3, tonumber(ARGV[12])
for s = 1, segments do
  if differs(KEYS[3+s], ARGV[12+s]) then return 'D' .. s end
end
local records = ARGV[12+2*segments]
local stride = #records / events
local count = tonumber(call('HGET', state, ARGV[6]) or '')
if not count then return 'C' end
local room = math.huge
if ARGV[7] ~= '' then room = tonumber(ARGV[7]) - count end
-- What may be refused is tried before the first bit is set: a refused claim must leave none.
call('HLEN', counters)
call('HINCRBY', state, ARGV[6], 0)
local positions, places, each = ARGV[9], ARGV[10], tonumber(ARGV[11])
local byte, sub = string.byte, string.sub
local fresh, judged, out, kept, raise = 0, 0, {}, {}, {}
for key = 1, events do
  local verdict = '0'
  for s = 1, segments - 1 do
    local older = ARGV[12+segments+s]
    if has(KEYS[3+s], older, (key - 1) * (#older / events)) then verdict = '1' break end
  end
  if verdict == '0' then
    if fresh < room then
      $SET_ALL
      if sum == $PROBES then verdict = '1' else
        fresh = fresh + 1
        kept[fresh] = sub(positions, key * 8 - 7, key * 8)
        local at = (key - 1) * each * 4
        for _ = 1, each do
          local b1, b2, b3, b4 = byte(places, at + 1, at + 4)
          local name = ((b1 * 256 + b2) * 256 + b3) * 256 + b4
          raise[name] = (raise[name] or 0) + 1
          at = at + 4
        end
      end
    elseif has(newest, records, (key - 1) * stride) then verdict = '1'
    elseif ARGV[8] == '1' then out[key] = '3' break
    else break end
  end
  out[key], judged = verdict, key
end
if judged > 0 then
  call('HSET', lanes, lane, sub(positions, judged * 8 - 7, judged * 8) .. sub(record, tonumber(ARGV[4])) ..
    table.concat(kept))
  if record == '' then call('HSETNX', state, ARGV[5], '1') end
  if fresh > 0 then call('HINCRBY', state, ARGV[6], fresh) end
  for name, by in pairs(raise) do redis.pcall('HINCRBY', counters, ARGV[13+2*segments+name], by) end
  local ends_at = call('HGET', state, 'ends_at')
  if ends_at then
    call('PEXPIREAT', lanes, ends_at)
    call('PEXPIREAT', counters, ends_at)
  end
end
return table.concat(out)
)";

constexpr std::string_view mark_ended_text = R"(
local what = redis.call('HGET', KEYS[1], ARGV[1])
if what then
  redis.call('HSET', KEYS[1], ARGV[1] .. '!', what)
  redis.call('HDEL', KEYS[1], ARGV[1])
end
return redis.call('HEXISTS', KEYS[1], ARGV[1] .. '!')
)";

constexpr std::string_view open_job_text = R"(
if redis.call('HEXISTS', KEYS[1], ARGV[1] .. '!') == 1 then return false end
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
if ARGV[3] ~= '' then redis.call('PEXPIREAT', KEYS[1], ARGV[3]) end
return redis.call('HGET', KEYS[1], ARGV[1])
)";

constexpr std::string_view put_down_text = R"(
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
local function is_behind(one, other)
  for i = 1, 8 do
    local a, b = string.byte(one, i) or 0, string.byte(other, i) or 0
    if a ~= b then return a < b end
  end
  return false
end
for i = 3, #ARGV, 2 do
  local before = redis.call('HGET', KEYS[2], ARGV[i])
  if not before or not is_behind(ARGV[i+1], before) then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i+1])
  end
end
if ARGV[2] ~= '' then redis.call('PEXPIREAT', KEYS[2], ARGV[2]) end
return 1
)";

}  // namespace

const script& claim(unsigned probes) {
  static const auto all = script_text::for_all_probes(
      "local bitfield = 'BITFIELD'" + std::string(script_text::has) + std::string(script_text::differs) +
      std::string(script_text::leases) + std::string(claim_text));
  return all[probes];
}

const script& open_job() {
  static const script one = script_text::make(std::string(open_job_text));
  return one;
}

const script& mark_ended() {
  static const script one = script_text::make(std::string(mark_ended_text));
  return one;
}

const script& put_down() {
  static const script one = script_text::make(std::string(put_down_text));
  return one;
}

}  // namespace everseen::redis::scripts
