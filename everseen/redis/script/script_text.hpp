#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "everseen/core/layout/layout.hpp"
#include "everseen/redis/script/script.hpp"

/// Common parts of scripts.
namespace everseen::redis::script_text {

/// A script of this text, with its hash.
[[nodiscard]] script make(std::string text);

/// A script with a version for each number of probes, in which the loop over the probes is unrolled:
/// positions are in registers and need no table.
///
/// A version is generated when it is first used: most filters need one or two of the 64.    Threads: any
/// number.
class for_any_probes {
 public:
  /// @param text  contains `has`. `$PROBES` is replaced by the number, and `$SET_ALL` by the commands that
  ///   set the bits whose positions begin at `start` of `records` in `newest`; they leave the number of newly
  ///   set bits in `sum`
  explicit for_any_probes(std::string text) : text_(std::move(text)) {}

  /// @pre 1 <= probes <= max_probes
  [[nodiscard]] const script& operator[](unsigned probes) const;
  /// The number of versions generated so far.
  [[nodiscard]] std::size_t made() const noexcept { return made_; }

 private:
  std::string text_;
  mutable std::array<std::once_flag, max_probes + 1> once_{};
  mutable std::array<script, max_probes + 1> all_{};
  mutable std::atomic<std::size_t> made_ = 0;
};

/// The parts of a script as one text.
[[nodiscard]] std::string joined(std::initializer_list<std::string_view> parts);

/// For `has` in a script that writes.
inline constexpr std::string_view may_write = "local bitfield = 'BITFIELD'";

// Whether a segment has all bits of a key. Needs a `local bitfield`, the command to read with, before it.
// Most absent keys miss at their first bit, so that one is checked alone, with one cheap command. The others
// are read together.
inline constexpr std::string_view has = R"(
local call, take = redis.call, cmsgpack.unpack_limit
local function has(segment, records, start)
  local at, p1 = take(records, 1, start)
  if call('GETBIT', segment, p1) == 0 then return false end
  $HAS_REST
end
)";

// Returns the remembered answer if this is the client's last batch.
inline constexpr std::string_view remembered = R"(
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

// Reads the keys to judge and their segments from the arguments. Needs `before`, the number of KEYS before
// the segments, and `words`, the number of ARGV before these:
//   - the number of keys
//   - the number of segments to write, which are the last ones
//   - one byte per key: the index of its segment among those, from 1; 0: the key is late (empty: all keys
//     belong to the last segment)
//   - for each segment to write, its count field and its capacity (empty: no limit)
//   - for each segment, its length
//   - for each segment, the index of its records below, from 1
//   - the records, each a string for all keys
// Sets `behind`: further arguments begin after ARGV[behind].
inline constexpr std::string_view segments = R"(
local segments, keys, written = #KEYS - before, tonumber(ARGV[words+1]), tonumber(ARGV[words+2])
local own, fields = ARGV[words+3], words + 2
local lengths = words + 3 + 2 * written
local segment, records, stride, behind = {}, {}, {}, 0
for s = 1, segments do
  segment[s] = KEYS[before+s]
  if differs(segment[s], ARGV[lengths+s]) then return 'D' .. s end
  local at = lengths + 2 * segments + tonumber(ARGV[lengths+segments+s])
  records[s], behind = ARGV[at], math.max(behind, at)
  stride[s] = #records[s] / keys
end
)";

// Checks that the partition is in the state that the caller planned for.
inline constexpr std::string_view open_partition = R"(
local epoch = call('HGET', state, 'epoch')
if not epoch then return 'M' end
if epoch ~= ARGV[1] then return 'S' end
)";

// Needs `segments` before it. Computes the room in each segment to write. All checks that can refuse a call
// are made here, before the first write, since a refused call must change nothing.
// count() stores the number of keys of each segment as a sum, since a server killed while writing may replay
// part of the call, and then its whole retry (doc/operations.md, "A torn AOF").
inline constexpr std::string_view rooms = R"(
local looked_up, counts, room, fresh, byte = segments - written, {}, {}, {}, string.byte
for w = 1, written do
  local count, capacity = tonumber(call('HGET', state, ARGV[fields+2*w]) or ''), ARGV[fields+1+2*w]
  if not count then return 'C' end
  counts[w], room[w], fresh[w] = count, math.huge, 0
  if capacity ~= '' then room[w] = tonumber(capacity) - count end
  call('HINCRBY', state, ARGV[fields+2*w], 0)
end
local function count()
  for w = 1, written do
    if fresh[w] > 0 then
      call('HSET', state, ARGV[fields+2*w], string.format('%.0f', counts[w] + fresh[w]))
    end
  end
end
)";

// Needs `rooms` before it. judge(key) returns a key's verdict and adds the key if it is fresh; `3`: no room.
inline constexpr std::string_view judge = R"(
local function judge(key)
  local mine = byte(own, key) or written
  if mine == 0 then return '2' end
  local target = looked_up + mine
  for s = 1, segments do
    if s ~= target and has(segment[s], records[s], (key - 1) * stride[s]) then return '1' end
  end
  local newest, records, start = segment[target], records[target], (key - 1) * stride[target]
  if fresh[mine] >= room[mine] then return has(newest, records, start) and '1' or '3' end
  $SET_ALL
  if sum == $PROBES then return '1' end
  fresh[mine] = fresh[mine] + 1
  return '0'
end
)";

// Needs `rooms` before it. predict(key) returns the verdict that judge(key) would return, and adds nothing;
// add(key) adds a key that predict() found fresh. Between the two, a call records its verdicts. Keys of one
// call are compared exactly, so a key may be fresh here that judge() would take for seen by mistake.
inline constexpr std::string_view predict = R"(
local predicted = {}
for s = looked_up + 1, segments do predicted[s] = {} end
local function predict(key)
  local mine = byte(own, key) or written
  if mine == 0 then return '2' end
  local target = looked_up + mine
  for s = 1, segments do
    local start = (key - 1) * stride[s]
    local among = predicted[s]
    if among and among[string.sub(records[s], start + 1, start + stride[s])] then return '1' end
    if has(segment[s], records[s], start) then return '1' end
  end
  if fresh[mine] >= room[mine] then return '3' end
  local start = (key - 1) * stride[target]
  predicted[target][string.sub(records[target], start + 1, start + stride[target])] = true
  fresh[mine] = fresh[mine] + 1
  return '0'
end
local function add(key)
  local target = looked_up + (byte(own, key) or written)
  local newest, records, start = segment[target], records[target], (key - 1) * stride[target]
  $SET_ALL
end
)";

// A segment of another type is damage, like one of another length. Any other error is not about the segment
// and is raised.
inline constexpr std::string_view differs = R"(
local function differs(segment, bytes)
  local length = redis.pcall('STRLEN', segment)
  if type(length) == 'number' then return length ~= tonumber(bytes) end
  if string.find(length.err, 'WRONGTYPE', 1, true) then return true end
  redis.call('STRLEN', segment)
end
)";

}  // namespace everseen::redis::script_text
