#include "everseen/redis/filter/limit_round.hpp"

#include <algorithm>
#include <utility>

#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/job_keys.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/keyspace/stored_id.hpp"
#include "everseen/redis/script/script_text.hpp"

namespace everseen::redis {

namespace {

/// Empty: never.
std::string end_text(std::optional<event_time> end) {
  return end ? to_text(*end) : std::string();
}

/// KEYS header    ARGV id, end (empty: never), id of the one before    Returns 1; 0 there is no such header.
/// If it no longer asks the one before, it may have got an end of its own since.
const script& take_end() {
  static const script s = script_text::make(R"(
local at = redis.call('HMGET', KEYS[1], 'id', 'after')
if at[1] ~= ARGV[1] then return 0 end
if at[2] ~= ARGV[3] then return 1 end
if ARGV[2] == '' then redis.call('HDEL', KEYS[1], 'expires_at') else redis.call('HSET', KEYS[1], 'expires_at', ARGV[2]) end
return 1
)");
  return s;
}

/// KEYS header    ARGV id, the end (empty: never)    Returns the round; -1 the end is another one; -2 there
/// is no such header.
const script& make_round_odd() {
  static const script s = script_text::make(R"(
local call, header = redis.call, KEYS[1]
local at = call('HMGET', header, 'id', 'round', 'expires_at')
if at[1] ~= ARGV[1] then return -2 end
if (at[3] or '') ~= ARGV[2] then return -1 end
local round, time = tonumber(at[2]) or 0, call('TIME')
round = round + 1 - round % 2
call('HDEL', header, 'limits')
call('HSET', header, 'round', string.format('%.0f', round), 'began', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
return round
)");
  return s;
}

/// KEYS header    ARGV id, the round, one that it becomes
const script& raise_round_to() {
  static const script s = script_text::make(R"(
local at = redis.call('HMGET', KEYS[1], 'id', 'round')
if at[1] == ARGV[1] and (at[2] or '0') == ARGV[2] then redis.call('HSET', KEYS[1], 'round', ARGV[3]) end
return 'K'
)");
  return s;
}

/// KEYS header, list of jobs    ARGV id, the round, the one that it becomes, the new end (empty: never)
/// Returns `K`; `S` it is another round; `E` it has ended; `J` it has jobs; `R` it is being rebuilt; `M`
/// there is no such header.
const script& move_end() {
  static const script s = script_text::make(R"(local call, header = redis.call, KEYS[1]
local at = call('HMGET', header, 'id', 'expires_at', 'after', 'next', 'round')
if at[1] ~= ARGV[1] then return 'M' end
if at[3] or at[4] then return 'R' end
local time = call('TIME')
if at[2] and tonumber(at[2]) <= time[1] * 1000 + math.floor(time[2] / 1000) then return 'E' end
if at[5] ~= ARGV[2] then return (at[2] or '') == ARGV[4] and 'K' or 'S' end
if call('HLEN', KEYS[2]) > 0 then return 'J' end
call('PERSIST', KEYS[2])
if ARGV[4] == '' then
  call('HDEL', header, 'expires_at')
  call('HSET', header, 'round', ARGV[3])
else
  call('HSET', header, 'expires_at', ARGV[4], 'round', ARGV[3])
end
return 'K'
)");
  return s;
}

/// KEYS header, keys beside it    ARGV id, the round, what `limits` becomes, the limit of the keys (empty:
/// none)    Returns 1 done, 0 it is another round.    The header loses its time limit before `limits` says
/// that everything is done.
const script& settle_limits() {
  static const script s = script_text::make(R"(
local call = redis.call
local at = call('HMGET', KEYS[1], 'id', 'round')
if at[1] ~= ARGV[1] or (at[2] or '0') ~= ARGV[2] then return 0 end
for k = 2, #KEYS do
  if ARGV[4] == '' then call('PERSIST', KEYS[k]) else call('PEXPIREAT', KEYS[k], ARGV[4]) end
end
call('PERSIST', KEYS[1])
call('HSET', KEYS[1], 'limits', ARGV[3])
return 1
)");
  return s;
}

}  // namespace

bool copy_expiry(session& with, const filter_identity& to, const image::filter_id& before,
                 std::optional<event_time> end) {
  const std::string key = to.keys.header();
  script_call call{&take_end(), {key, 0}, {key}, {bytes_of(to.id), end_text(end), bytes_of(before)}};
  return run_script(with, std::move(call)).integer() == 1;
}

std::optional<limit_round> begin_change(session& with, const filter_identity& f,
                                        std::optional<event_time> end) {
  const std::string key = f.keys.header();
  const std::int64_t round =
      run_script(with, {&make_round_odd(), {key, 0}, {key}, {bytes_of(f.id), end_text(end)}}).integer();
  if (round == -2) throw filter_is_gone(key);
  if (round == -1) return std::nullopt;
  return limit_round{static_cast<std::uint64_t>(round), end};
}

void raise_round(session& with, const filter_identity& f, std::uint64_t from, std::uint64_t to) {
  const std::string key = f.keys.header();
  (void)run_script(
      with, {&raise_round_to(), {key, 0}, {key}, {bytes_of(f.id), std::to_string(from), std::to_string(to)}});
}

expiry_change change_expiry(session& with, const filter_identity& f, const limit_round& in,
                            std::optional<event_time> to) {
  const std::string key = f.keys.header();
  script_call call{&move_end(), {key, 0}, {key, job_keys::list(f.keys)}};
  call.arguments = {bytes_of(f.id), std::to_string(in.number), std::to_string(in.number + 1), end_text(to)};
  const reply said = run_script(with, std::move(call));
  switch (said.text().front()) {
    case 'K':
      return expiry_change::done;
    case 'S':
      return expiry_change::superseded;
    case 'E':
      return expiry_change::over;
    case 'J':
      return expiry_change::has_jobs;
    case 'R':
      return expiry_change::rebuilt;
    default:
      return expiry_change::gone;
  }
}

bool note_limits(session& with, const filter_identity& f, const limit_round& in, const std::string& limit,
                 std::vector<std::string> beside) {
  const std::string key = f.keys.header();
  beside.insert(beside.begin(), key);
  script_call call{&settle_limits(), {key, 0}, std::move(beside)};
  call.arguments = {bytes_of(f.id), std::to_string(in.number), limits_field(in.end), limit};
  return run_script(with, std::move(call)).integer() == 1;
}

event_time limit_of(event_time end, event_time now) noexcept {
  const event_time from = std::max(end, now);
  return event_time::max() - from < later_than_the_end ? event_time::max() : from + later_than_the_end;
}

}  // namespace everseen::redis
