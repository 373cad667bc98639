#include "everseen/redis/attached/attached_scripts.hpp"

#include <string>
#include <string_view>

#include "everseen/core/layout.hpp"
#include "everseen/redis/script/script_text.hpp"

namespace everseen::redis::attached_scripts {

namespace {

using script_text::may_write;

constexpr std::string_view reads_only =
    "local bitfield = redis.pcall('BITFIELD_RO', KEYS[#KEYS]).err and 'BITFIELD' or 'BITFIELD_RO'";

// How long a string is; or nil and what makes it another one than was attached.
constexpr std::string_view length_of = R"(
local function length_of(name, most)
  local length = redis.pcall('STRLEN', name)
  if type(length) == 'number' then
    if length > tonumber(most) then return nil, 'L' end
    return length
  end
  if string.find(length.err, 'WRONGTYPE', 1, true) then return nil, 'T' end
  redis.call('STRLEN', name)
end
)";

// Makes a string so long that it has a position, and changes no bit. At once: to lengthen it step by step
// copies it again and again.
constexpr std::string_view reach = R"(
local function reach(name, length, position)
  if 8 * length <= tonumber(position) then
    redis.call('BITFIELD', name, 'INCRBY', 'u1', position, 0)
  end
end
)";

// Why the strings from KEYS[first] on, of which the one before the last is the newest, are no chain; else the
// length of the newest.
constexpr std::string_view broken = R"(
local function broken(cursor, first, most)
  local newest, length = #KEYS - 1
  for s = first, newest do
    local fault
    length, fault = length_of(KEYS[s], most)
    if fault then return fault .. (s - first + 1) end
    if length == 0 and s < newest then return 'M' .. (s - first + 1) end
  end
  if length == 0 and newest > first then return 'H' end
  local next, fault = length_of(KEYS[#KEYS], most)
  if fault then return fault .. (#KEYS - first + 1) end
  if not cursor and next > 0 then return 'C' end
  return nil, length
end
)";

// What may be refused is tried before the first bit is set: a refused batch must leave none.
constexpr std::string_view add_text = R"(
local before = remembered(KEYS[1], ARGV[1], ARGV[2])
if before then return before end
local newest, keys, records = KEYS[2], tonumber(ARGV[4]), ARGV[5]
local length, fault = length_of(newest, ARGV[3])
if fault then return fault .. 1 end
local stride, out = #records / keys, {}
call('SET', KEYS[1], '', 'PX', ARGV[2])
reach(newest, length, ARGV[6])
for key = 1, keys do
  local start = (key - 1) * stride
  $SET_ALL
  out[key] = sum == $PROBES and '1' or '0'
end
local answer = table.concat(out)
call('SET', KEYS[1], ARGV[1] .. answer, 'PX', ARGV[2])
return answer
)";

constexpr std::string_view check_text = R"(
local _, fault = length_of(KEYS[1], ARGV[1])
if fault then return fault .. 1 end
local keys, records = tonumber(ARGV[2]), ARGV[3]
local stride, out = #records / keys, {}
for key = 1, keys do
  out[key] = has(KEYS[1], records, (key - 1) * stride) and '1' or '0'
end
return table.concat(out)
)";

// How full the newest string is, the bits of its beginning tell: hashes do not prefer any part of it. To
// count all bits of a string of 512 MiB takes a server some 200 ms, and these 0.1 ms; they are exact for
// strings of 256 KiB and less, and within 0.1 % for longer ones.
constexpr std::string_view add_growing_text = R"(
local before = remembered(KEYS[1], ARGV[1], ARGV[2])
if before then return before end
local cursor = call('GET', KEYS[2])
if (cursor or '0') ~= ARGV[6] then return 'S' .. (cursor or '0') end
local fault, length = broken(cursor, 3, ARGV[3])
if fault then return fault end
local strings, keys, records = #KEYS - 3, tonumber(ARGV[4]), ARGV[5]
local bits, last, reachable = tonumber(ARGV[7]), ARGV[7] - 1, tonumber(ARGV[8])
local newest, next, sample = KEYS[#KEYS-1], KEYS[#KEYS], 262144
call('SET', KEYS[1], '', 'PX', ARGV[2])
reach(newest, length, last)
local set = call('BITCOUNT', newest, 0, sample - 1)
if bits > 8 * sample then set = set * reachable / (8 * sample) end
local stride, out = #records / keys, {}
for key = 1, keys do
  if 2 * set > bits then
    reach(next, call('STRLEN', next), last)
    call('INCR', KEYS[2])
    break
  end
  local verdict, start = '0', (key - 1) * stride
  for s = 1, strings - 1 do
    if has(KEYS[2+s], records, start) then verdict = '1' break end
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
local cursor = call('GET', KEYS[1])
if (cursor or '0') ~= ARGV[4] then return 'S' .. (cursor or '0') end
local fault = broken(cursor, 2, ARGV[1])
if fault then return fault end
local strings, keys, records = #KEYS - 2, tonumber(ARGV[2]), ARGV[3]
local stride, out = #records / keys, {}
for key = 1, keys do
  out[key] = '0'
  for s = 1, strings do
    if has(KEYS[1+s], records, (key - 1) * stride) then out[key] = '1' break end
  end
end
return table.concat(out)
)";

/// @param bitfield  defines which command `has` reads with
std::string whole(std::string_view bitfield, std::string_view text) {
  return script_text::joined(
      {bitfield, script_text::has, length_of, reach, broken, script_text::remembered, text});
}

}  // namespace

const script& add(unsigned probes) {
  static const script_text::for_any_probes all(whole(may_write, add_text));
  return all[probes];
}

const script& check(unsigned probes) {
  static const script_text::for_any_probes all(whole(reads_only, check_text));
  return all[probes];
}

const script& add_growing(unsigned probes) {
  static const script_text::for_any_probes all(whole(may_write, add_growing_text));
  return all[probes];
}

const script& check_growing(unsigned probes) {
  static const script_text::for_any_probes all(whole(reads_only, check_growing_text));
  return all[probes];
}

}  // namespace everseen::redis::attached_scripts
