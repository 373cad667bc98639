#include "everseen/redis/attached_scripts.hpp"

#include <array>
#include <string>
#include <string_view>

#include "everseen/core/layout.hpp"
#include "everseen/redis/script_text.hpp"

namespace everseen::redis::attached_scripts {

namespace {

constexpr std::string_view may_write = "local bitfield = 'BITFIELD'";
constexpr std::string_view reads_only =
    "local bitfield = redis.pcall('BITFIELD_RO', KEYS[#KEYS]).err and 'BITFIELD' or 'BITFIELD_RO'";

// What makes a string another one than was attached.
constexpr std::string_view foreign = R"(
local function foreign(name, most)
  local length = redis.pcall('STRLEN', name)
  if type(length) == 'number' then return length > tonumber(most) and 'L' end
  if string.find(length.err, 'WRONGTYPE', 1, true) then return 'T' end
  redis.call('STRLEN', name)
end
)";

// The answer of the last batch, if this is it.
constexpr std::string_view remembered = R"(
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

// What may be refused is tried before the first bit is set: a refused batch must leave none.
constexpr std::string_view add_text = R"(
local before = remembered(KEYS[1], ARGV[1], ARGV[2])
if before then return before end
local newest, keys, records = KEYS[2], tonumber(ARGV[4]), ARGV[5]
local fault = foreign(newest, ARGV[3])
if fault then return fault .. 1 end
local stride, out = #records / keys, {}
call('SET', KEYS[1], '', 'PX', ARGV[2])
for key = 1, keys do
  $SET_ALL
  out[key] = sum == $PROBES and '1' or '0'
end
local answer = table.concat(out)
call('SET', KEYS[1], ARGV[1] .. answer, 'PX', ARGV[2])
return answer
)";

constexpr std::string_view check_text = R"(
local fault = foreign(KEYS[1], ARGV[1])
if fault then return fault .. 1 end
local keys, records = tonumber(ARGV[2]), ARGV[3]
local stride, out = #records / keys, {}
for key = 1, keys do
  out[key] = has(KEYS[1], records, (key - 1) * stride) and '1' or '0'
end
return table.concat(out)
)";

constexpr std::string_view add_growing_text = R"(
local before = remembered(KEYS[1], ARGV[1], ARGV[2])
if before then return before end
local cursor = call('GET', KEYS[2]) or '0'
if cursor ~= ARGV[6] then return 'S' .. cursor end
local strings, keys, records, bits = #KEYS - 3, tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[7])
local newest, next = KEYS[#KEYS-1], KEYS[#KEYS]
for s = 1, strings do
  local fault = foreign(KEYS[2+s], ARGV[3])
  if fault then return fault .. s end
end
local stride, out, set = #records / keys, {}, call('BITCOUNT', newest)
call('SET', KEYS[1], '', 'PX', ARGV[2])
for key = 1, keys do
  if 2 * set > bits then
    call('INCR', KEYS[2])
    call('SETBIT', next, ARGV[7] - 1, 0)
    break
  end
  local verdict = '0'
  for s = 1, strings - 1 do
    if has(KEYS[2+s], records, (key - 1) * stride) then verdict = '1' break end
  end
  if verdict == '0' then
    $SET_ALL
    set = set + $PROBES - sum
    if sum == $PROBES then verdict = '1' end
  end
  out[key] = verdict
end
local answer = table.concat(out)
call('SET', KEYS[1], ARGV[1] .. answer, 'PX', ARGV[2])
return answer
)";

constexpr std::string_view check_growing_text = R"(
local cursor = call('GET', KEYS[1]) or '0'
if cursor ~= ARGV[4] then return 'S' .. cursor end
local strings, keys, records = #KEYS - 1, tonumber(ARGV[2]), ARGV[3]
for s = 1, strings do
  local fault = foreign(KEYS[1+s], ARGV[1])
  if fault then return fault .. s end
end
local stride, out = #records / keys, {}
for key = 1, keys do
  out[key] = '0'
  for s = 1, strings do
    if has(KEYS[1+s], records, (key - 1) * stride) then out[key] = '1' break end
  end
end
return table.concat(out)
)";

/// All numbers of probes, made at the first use.
std::array<script, max_probes + 1> for_all_probes(std::string_view bitfield, std::string_view text) {
  std::array<script, max_probes + 1> all;
  for (unsigned k = 1; k <= max_probes; ++k)
    all[k] = script_text::for_probes(std::string(bitfield) + std::string(script_text::has) +
                                         std::string(foreign) + std::string(remembered) + std::string(text),
                                     k);
  return all;
}

}  // namespace

const script& add(unsigned probes) {
  static const auto all = for_all_probes(may_write, add_text);
  return all[probes];
}

const script& check(unsigned probes) {
  static const auto all = for_all_probes(reads_only, check_text);
  return all[probes];
}

const script& add_growing(unsigned probes) {
  static const auto all = for_all_probes(may_write, add_growing_text);
  return all[probes];
}

const script& check_growing(unsigned probes) {
  static const auto all = for_all_probes(reads_only, check_growing_text);
  return all[probes];
}

}  // namespace everseen::redis::attached_scripts
