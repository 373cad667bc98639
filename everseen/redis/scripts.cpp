#include "everseen/redis/scripts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "everseen/core/layout.hpp"
#include "everseen/redis/script_text.hpp"

namespace everseen::redis::scripts {

namespace {

using script_text::differs;
using script_text::has;
using script_text::make;

// BITFIELD counts as a write whatever it does: a replica and a server without memory left would refuse a
// look-up. Before Redis 6 there is nothing else.
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

// Until it is published nobody else would ever find the segment, so it has a time limit.
constexpr std::string_view lengthen_text = R"(
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 'M' end
if epoch ~= ARGV[1] then return 'S' end
local bytes = tonumber(ARGV[2])
if redis.call('STRLEN', KEYS[2]) < bytes then redis.call('SETRANGE', KEYS[2], bytes - 1, '\0') end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return redis.call('STRLEN', KEYS[2])
)";

constexpr std::string_view publish_text = R"(
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 'M' end
if epoch ~= ARGV[1] then return 'S' end
if differs(KEYS[2], ARGV[4]) then return 'D1' end
local ends_at = redis.call('HGET', KEYS[1], 'ends_at')
if ends_at then redis.call('PEXPIREAT', KEYS[2], ends_at) else redis.call('PERSIST', KEYS[2]) end
redis.call('HSET', KEYS[1], 'epoch', ARGV[2], 'manifest', ARGV[3], ARGV[5], '0')
for i = 3, #KEYS do
  redis.call('UNLINK', KEYS[i])
  redis.call('HDEL', KEYS[1], ARGV[3+i])
end
return 'K'
)";

constexpr std::string_view revise_text = R"(
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 'M' end
if epoch ~= ARGV[1] then return 'S' end
redis.call('HSET', KEYS[1], 'epoch', ARGV[2], 'manifest', ARGV[3])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], ARGV[4], ARGV[5]) end
for i = 2, #KEYS do
  redis.call('UNLINK', KEYS[i])
  redis.call('HDEL', KEYS[1], ARGV[4+i])
end
return 'K'
)";

constexpr std::string_view settle_text = R"(
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 'M' end
if epoch ~= ARGV[1] then return 'S' end
for i = 2, #KEYS do
  if ARGV[5+i] ~= '' and differs(KEYS[i], ARGV[5+i]) then return 'D' .. (i - 1) end
end
redis.call('HSET', KEYS[1], 'epoch', ARGV[2], 'manifest', ARGV[3])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], ARGV[4], ARGV[5]) end
if ARGV[6] == '' then redis.call('HDEL', KEYS[1], 'ends_at')
else redis.call('HSET', KEYS[1], 'ends_at', ARGV[6]) end
for i = 1, #KEYS do
  if ARGV[6] == '' then redis.call('PERSIST', KEYS[i]) else redis.call('PEXPIREAT', KEYS[i], ARGV[6]) end
end
return 'K'
)";

constexpr std::string_view merge_text = R"(
local from, page = tonumber(ARGV[1]), ARGV[2]
if redis.call('STRLEN', KEYS[1]) < from + #page then return 'D' end
local now = redis.call('GETRANGE', KEYS[1], from, from + #page - 1)
if string.find(now, '[^%z]') then
  local byte, char, bor, both = string.byte, string.char, bit.bor, {}
  for i = 1, #page do both[i] = char(bor(byte(now, i), byte(page, i))) end
  page = table.concat(both)
end
redis.call('SETRANGE', KEYS[1], from, page)
return 'K'
)";

// No field is ever empty, so the empty text stands for none.
constexpr std::string_view change_header_text = R"(
local conditions = tonumber(ARGV[1])
for i = 2, 2 * conditions, 2 do
  if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i+1] then return 0 end
end
for i = 2 + 2 * conditions, #ARGV, 2 do
  if ARGV[i+1] == '' then redis.call('HDEL', KEYS[1], ARGV[i])
  else redis.call('HSET', KEYS[1], ARGV[i], ARGV[i+1]) end
  if ARGV[i] == 'ends_at' then
    if ARGV[i+1] == '' then redis.call('PERSIST', KEYS[1])
    else redis.call('PEXPIREAT', KEYS[1], ARGV[i+1]) end
  end
end
return 1
)";

constexpr std::string_view begin_text = R"(
if redis.call('EXISTS', KEYS[1]) == 1 then
  return redis.call('HGET', KEYS[1], 'id') == ARGV[2] and 1 or 0
end
redis.call('HSET', KEYS[1], unpack(ARGV))
local ends_at = redis.call('HGET', KEYS[1], 'ends_at')
if ends_at then redis.call('PEXPIREAT', KEYS[1], ends_at) end
return 1
)";

// The filter may be arriving under its other name at this moment.
constexpr std::string_view hide_text = R"(
if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return 0 end
if redis.call('HEXISTS', KEYS[1], 'moves_to') == 1 then return 2 end
redis.call('HSET', KEYS[1], 'ready', '0')
return 1
)";

// The clock decides: who has set out and is late must not arrive, as nobody waits for him any more.
// The token tells a copy of the call that comes later: the filter may have been renamed on by then.
constexpr std::string_view arrive_text = R"(
if redis.call('EXISTS', KEYS[2]) == 1 then return 'K' end
local now = redis.call('TIME')
if now[1] * 1000 + math.floor(now[2] / 1000) > tonumber(ARGV[1]) then return 'T' end
local conditions = tonumber(ARGV[3])
if conditions == 0 and redis.call('EXISTS', KEYS[1]) == 1 then return 'C' end
for i = 4, 2 + 2 * conditions, 2 do
  if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i+1] then return 'C' end
end
redis.call('UNLINK', KEYS[1])
for i = 4 + 2 * conditions, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i+1]) end
redis.call('SET', KEYS[2], '', 'PX', ARGV[2])
local ends_at = redis.call('HGET', KEYS[1], 'ends_at')
if ends_at then redis.call('PEXPIREAT', KEYS[1], ends_at) end
return 'K'
)";

// What is no hash, or has lost the field, has no generation.
constexpr std::string_view remove_text = R"(
local generation = redis.pcall('HGET', KEYS[1], 'generation')
if type(generation) ~= 'string' then generation = '' end
if generation ~= ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])
)";

constexpr std::string_view remove_if_text = R"(
for i = 1, #ARGV, 2 do
  if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i+1] then return 0 end
end
return redis.call('UNLINK', KEYS[1])
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

const script& lengthen() {
  static const script one = make(std::string(lengthen_text));
  return one;
}

const script& publish() {
  static const script one = make(std::string(differs) + std::string(publish_text));
  return one;
}

const script& revise() {
  static const script one = make(std::string(revise_text));
  return one;
}

const script& settle() {
  static const script one = make(std::string(differs) + std::string(settle_text));
  return one;
}

const script& merge() {
  static const script one = make(std::string(merge_text));
  return one;
}

const script& change_header() {
  static const script one = make(std::string(change_header_text));
  return one;
}

const script& begin() {
  static const script one = make(std::string(begin_text));
  return one;
}

const script& hide() {
  static const script one = make(std::string(hide_text));
  return one;
}

const script& arrive() {
  static const script one = make(std::string(arrive_text));
  return one;
}

const script& remove() {
  static const script one = make(std::string(remove_text));
  return one;
}

const script& remove_if() {
  static const script one = make(std::string(remove_if_text));
  return one;
}

std::optional<std::size_t> damaged_segment(std::string_view said, std::size_t segments) {
  if (!said.starts_with('D')) return {};
  std::size_t number = 0;
  const char* const end = said.data() + said.size();
  const auto read = std::from_chars(said.data() + 1, end, number);
  if (read.ec != std::errc{} || read.ptr != end || number < 1 || number > segments) return {};
  return number;
}

}  // namespace everseen::redis::scripts
