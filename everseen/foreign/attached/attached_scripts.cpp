#include "everseen/foreign/attached/attached_scripts.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "everseen/core/layout/layout.hpp"

namespace everseen::foreign::attached_scripts {

namespace {

// For `has` in a script that writes.
constexpr std::string_view may_write = "local bitfield = 'BITFIELD'";

// Whether a segment has all bits of a key. Needs a `local bitfield`, the command to read with, before it.
// Most absent keys miss at their first bit, so that one is checked alone, with one cheap command. The others
// are read together.
constexpr std::string_view has = R"(
local call, take = redis.call, cmsgpack.unpack_limit
local function has(segment, records, start)
  local at, p1 = take(records, 1, start)
  if call('GETBIT', segment, p1) == 0 then return false end
  $HAS_REST
end
)";

// Returns the remembered answer if this is the client's last batch.
constexpr std::string_view remembered = R"(
local function remembered(token, asked)
  local last = redis.call('GET', token)
  local sequence = last and string.sub(last, 1, #asked) or ''
  if sequence == asked then return string.sub(last, #asked + 1) end
  if sequence > asked then return 'O' end
end
)";

constexpr std::string_view reads_only =
    "local bitfield = redis.pcall('BITFIELD_RO', KEYS[1]).err and 'BITFIELD' or 'BITFIELD_RO'";

// The length of a string; or nil and how it differs from the one that was attached.
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

// Extends a string to include a position, without changing a bit. In one step, since each extension may copy
// the string.
constexpr std::string_view reach = R"(
local function reach(name, length, position)
  if 8 * length <= tonumber(position) then
    redis.call('BITFIELD', name, 'INCRBY', 'u1', position, 0)
  end
end
)";

// The number of strings from KEYS[first] on, and the length of the newest; or nil and how they differ from
// what was attached.
//
// `sizes` is not empty if their program stores the sizes in a hash, whose key is the last one. They are
// compared in the step that uses them: other sizes mean other positions.
constexpr std::string_view strings_from = R"(
local function strings_from(first, number, most, sizes)
  local strings, cursor, length = #KEYS - first + 1
  if sizes ~= '' then
    local config = redis.pcall('HMGET', KEYS[#KEYS], 'size', 'hashIterations')
    if config.err and not string.find(config.err, 'WRONGTYPE', 1, true) then return redis.call('HLEN', KEYS[#KEYS]) end
    local found = (config[1] or '') .. ' ' .. (config[2] or '')
    if found ~= sizes then return nil, 'F' .. found end
    strings = strings - 1
  end
  if number ~= '' then
    strings, cursor = strings - 2, call('GET', KEYS[#KEYS])
    if (cursor or '0') ~= number then return nil, 'S' .. (cursor or '0') end
  end
  for s = 1, strings do
    local fault
    length, fault = length_of(KEYS[first+s-1], most)
    if fault then return nil, fault .. s end
    if length == 0 and s < strings then return nil, 'M' .. s end
  end
  if number ~= '' then
    if length == 0 and strings > 1 then return nil, 'H' end
    local next, fault = length_of(KEYS[first+strings], most)
    if fault then return nil, fault .. (strings + 1) end
    if not cursor and next > 0 then return nil, 'C' end
  end
  return strings, length
end
)";

// Everything that may be refused is tried before the first bit is set: a refused batch must change nothing.
// So a call either begins the next string or adds keys, never both: the cursor may refuse to be moved.
//
// The fill of the newest string of a chain is estimated from the bits of its beginning, since hashes prefer
// no part of it. Counting all bits of a string of 512 MiB takes a server some 200 ms, and this 0.1 ms; the
// estimate is exact for strings of 256 KiB and less, and within 0.1 % for longer ones.
constexpr std::string_view add_text = R"(
local before = remembered(KEYS[1], ARGV[1])
if before then return before end
local strings, length = strings_from(2, ARGV[7], ARGV[3], ARGV[10])
if not strings then return length end
local keys, records, newest, grows = tonumber(ARGV[4]), ARGV[5], KEYS[1+strings], ARGV[7] ~= ''
call('SET', KEYS[1], '', 'PX', ARGV[2])
reach(newest, length, ARGV[6])
local set, most_set, sample = 0, math.huge, 262144
if grows then
  local bits, reachable = tonumber(ARGV[8]), tonumber(ARGV[9])
  set, most_set = call('BITCOUNT', newest, 0, sample - 1), bits / 2
  if bits > 8 * sample then set = set * reachable / (8 * sample) end
end
if set > most_set then
  local next = KEYS[2+strings]
  reach(next, call('STRLEN', next), ARGV[6])
  call('INCR', KEYS[#KEYS])
  keys = 0
end
local stride, out = #records / tonumber(ARGV[4]), {}
for key = 1, keys do
  if set > most_set then break end
  local verdict, start = '0', (key - 1) * stride
  for s = 1, strings - 1 do
    if has(KEYS[1+s], records, start) then verdict = '1' break end
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

constexpr std::string_view check_text = R"(
local strings, fault = strings_from(1, ARGV[4], ARGV[1], ARGV[5])
if not strings then return fault end
local keys, records = tonumber(ARGV[2]), ARGV[3]
local stride, out = #records / keys, {}
for key = 1, keys do
  out[key] = '0'
  for s = 1, strings do
    if has(KEYS[s], records, (key - 1) * stride) then out[key] = '1' break end
  end
end
return table.concat(out)
)";

/// @param bitfield  defines which command `has` reads with
std::string whole(std::string_view bitfield, std::string_view text) {
  return redis::joined({bitfield, has, length_of, reach, strings_from, remembered, text});
}

void replace_all(std::string& text, std::string_view from, std::string_view replacement) {
  for (std::size_t position = text.find(from); position != std::string::npos;
       position = text.find(from, position + replacement.size()))
    text.replace(position, from.size(), replacement);
}

/// The Lua code that reads or sets probes `from` .. `target` of a key, in parts that fit Lua's registers. It
/// leaves the number of bits that were set in `sum`.
std::string bitfields(std::string_view command, std::string_view segment, std::string_view operation,
                      unsigned from, unsigned target) {
  constexpr unsigned at_once = 32;
  const std::string value = operation == "SET" ? ",'1'" : "";
  std::string text;
  for (unsigned first = from; first <= target; first += at_once) {
    const unsigned last = std::min(target, first + at_once - 1);
    std::string added;
    text += std::string(first == from ? "local " : "") + "old = call(" + std::string(command) + ", " +
            std::string(segment);
    for (unsigned i = first; i <= last; ++i) {
      text += ",'" + std::string(operation) + "','u1',p" + std::to_string(i) + value;
      added += (i == first ? "old[" : "+old[") + std::to_string(i - first + 1) + "]";
    }
    text += ")\n";
    text += first == from ? "local sum = " + added + "\n" : "sum = sum + " + added + "\n";
  }
  return text;
}

redis::script for_probes(std::string text, unsigned probes) {
  std::string all = "p1";   // p1,p2,...
  std::string rest = "p2";  // p2,p3,...
  for (unsigned i = 2; i <= probes; ++i) {
    all += ",p" + std::to_string(i);
    if (i > 2) rest += ",p" + std::to_string(i);
  }
  replace_all(text, "$HAS_REST",
              probes == 1 ? "return true"
                          : "local _," + rest + " = take(records, " + std::to_string(probes - 1) + ", at)\n" +
                                bitfields("bitfield", "segment", "GET", 2, probes) +
                                "return sum == " + std::to_string(probes - 1));
  replace_all(text, "$SET_ALL",
              "local _," + all + " = take(records, $PROBES, start)\n" +
                  bitfields("'BITFIELD'", "newest", "SET", 1, probes));
  replace_all(text, "$PROBES", std::to_string(probes));
  return redis::make_script(std::move(text));
}

/// A script with a version for each number of probes, in which the loop over the probes is unrolled:
/// positions are in registers and need no table. A version is generated when it is first used: most filters
/// need one or two of the 64.    Threads: any number.
class for_any_probes {
 public:
  /// @param text  contains `has`. `$PROBES` is replaced by the number, and `$SET_ALL` by the commands that
  ///   set the bits whose positions begin at `start` of `records` in `newest`; they leave the number of newly
  ///   set bits in `sum`
  explicit for_any_probes(std::string text) : text_(std::move(text)) {}

  /// @pre 1 <= probes <= max_probes
  [[nodiscard]] const redis::script& operator[](unsigned probes) const {
    std::call_once(once_[probes], [&] { all_[probes] = for_probes(text_, probes); });
    return all_[probes];
  }

 private:
  std::string text_;
  mutable std::array<std::once_flag, max_probes + 1> once_{};
  mutable std::array<redis::script, max_probes + 1> all_{};
};

}  // namespace

const redis::script& add(unsigned probes) {
  static const for_any_probes all(whole(may_write, add_text));
  return all[probes];
}

const redis::script& check(unsigned probes) {
  static const for_any_probes all(whole(reads_only, check_text));
  return all[probes];
}

}  // namespace everseen::foreign::attached_scripts
