#include "everseen/redis/claim_scripts.hpp"

#include <array>
#include <string>
#include <string_view>

#include "everseen/core/layout.hpp"
#include "everseen/redis/expiry_text.hpp"
#include "everseen/redis/script_text.hpp"

namespace everseen::redis::scripts {

namespace {

constexpr std::string_view open_claim = "local state, lanes = KEYS[1], KEYS[2]";

// Where an answer was lost and the call is sent again, it writes, too, and changes nothing: so a WAIT behind
// it waits for what the first attempt wrote.
constexpr std::string_view open_lane = R"(
local lane = ARGV[2]
local record = call('HGET', lanes, lane) or ''
if string.sub(record, 1, 8) ~= ARGV[3] then
  if record ~= '' then call('HSET', state, ARGV[5], '1') end
  return 'P'
end
local before, words = 2, 9
)";

// Fresh events mostly follow one another, so positions are kept by stretches of them.
//
// A server that was killed while it wrote its AOF may later run the first commands of this call, and then the
// whole of its retry (doc/operations.md, "A torn AOF"). So the record and the counters are one command, which
// comes before all bits: whoever finds the record adds its keys again, which changes nothing where they are.
// And counters are written as sums, those of events that were not fresh, too: a key may be fresh in the first
// attempt, and in the retry not any more. A counter that was overwritten by somebody else stays as it is:
// whoever reads the counters finds it.
constexpr std::string_view claim_text = R"(
local positions, places, each, sub = ARGV[7], ARGV[8], tonumber(ARGV[9]), string.sub
local judged, since, out, kept, raise = 0, nil, {}, {}, {}
for key = 1, keys do
  local verdict = foresee(key)
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
  if record == '' then call('HSETNX', state, ARGV[5], '1') end
  call('HSET', lanes, unpack(write))
  local ends_at = call('HGET', state, 'ends_at')
  if ends_at then call('PEXPIREAT', lanes, ends_at) end
  count()
  for key = 1, judged do
    if out[key] == '0' then add(key) end
  end
end
return table.concat(out)
)";

constexpr std::string_view mark_ended_text = R"(
local mark, kept = ARGV[1] .. '!', ARGV[2]
local ending = redis.call('HGET', KEYS[1], mark)
if ending and string.sub(ending, -32) == ARGV[3] then return 1 end
if ending ~= kept and redis.call('HGET', KEYS[1], ARGV[1]) ~= kept then return 0 end
if string.sub(kept, -33, -33) == '\0' then kept = string.sub(kept, 1, -34) end
redis.call('HSET', KEYS[1], mark, kept .. '\0' .. ARGV[3])
redis.call('HDEL', KEYS[1], ARGV[1])
return 1
)";

constexpr std::string_view end_in_partition_text = R"(
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return 0 end
redis.call('UNLINK', KEYS[2])
redis.call('HDEL', KEYS[1], ARGV[2])
return 1
)";

constexpr std::string_view finish_end_text = R"(
local mark = ARGV[1] .. '!'
local kept = redis.call('HGET', KEYS[1], mark)
if not kept or string.sub(kept, -32) ~= ARGV[2] then return 0 end
redis.call('UNLINK', KEYS[2])
redis.call('HDEL', KEYS[1], mark)
return 1
)";

constexpr std::string_view open_job_text = R"(
if redis.call('HEXISTS', KEYS[1], ARGV[1] .. '!') == 1 then return false end
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
if ARGV[3] ~= '' then redis.call('PEXPIREAT', KEYS[1], ARGV[3]) end
return redis.call('HGET', KEYS[1], ARGV[1])
)";

constexpr std::string_view put_down_text = R"(
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
local function is_behind(one, other)
  for i = 1, 8 do
    local a, b = string.byte(one, i) or 0, string.byte(other, i) or 0
    if a ~= b then return a < b end
  end
  return false
end
for i = 4, #ARGV, 3 do
  local so_far = redis.call('HGET', KEYS[2], ARGV[i]) or string.rep('\0', 8)
  if ARGV[i+2] ~= '' and string.sub(so_far, 1, 8) ~= ARGV[i+2] then return 2 end
end
for i = 4, #ARGV, 3 do
  local before = redis.call('HGET', KEYS[2], ARGV[i])
  if not before or not is_behind(ARGV[i+1], before) then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i+1])
  end
end
if ARGV[3] == 'list' then
  end_like(KEYS[1], KEYS[2])
elseif ARGV[3] ~= '' then
  redis.call('PEXPIREAT', KEYS[2], ARGV[3])
end
return 1
)";

}  // namespace

const script& claim(unsigned probes) {
  using namespace script_text;
  static const for_any_probes all(joined({may_write, has, differs, open_claim, open_partition, open_lane,
                                          segments, rooms, foresee, claim_text}));
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

const script& end_in_partition() {
  static const script one = script_text::make(std::string(end_in_partition_text));
  return one;
}

const script& finish_end() {
  static const script one = script_text::make(std::string(finish_end_text));
  return one;
}

const script& put_down() {
  static const script one = script_text::make(script_text::joined({script_text::end_like, put_down_text}));
  return one;
}

}  // namespace everseen::redis::scripts
