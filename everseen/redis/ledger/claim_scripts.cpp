#include "everseen/redis/ledger/claim_scripts.hpp"

#include <array>
#include <string>
#include <string_view>

#include "everseen/core/layout.hpp"
#include "everseen/redis/script/expiry_text.hpp"
#include "everseen/redis/script/script_text.hpp"

namespace everseen::redis::scripts {

namespace {

constexpr std::string_view open_claim = "local state, lanes = KEYS[1], KEYS[2]";

// Where an answer was lost and the call is sent again, it writes, too, and changes nothing: so a WAIT behind
// it waits for what the first attempt wrote.
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
  call('HSET', lanes, unpack(write))
  if record == '' then end_like(state, lanes) end
  count()
  for key = 1, judged do
    if out[key] == '0' then add(key) end
  end
end
return table.concat(out)
)";

}  // namespace

const script& claim(unsigned probes) {
  using namespace script_text;
  static const for_any_probes all(joined({may_write, has, differs, end_like, open_claim, open_partition,
                                          open_lane, segments, rooms, foresee, claim_text}));
  return all[probes];
}

const script& look() {
  static const script s =
      script_text::make("return {redis.pcall('HGETALL', KEYS[1]), redis.pcall('HGET', KEYS[2], ARGV[1])}");
  return s;
}

}  // namespace everseen::redis::scripts
