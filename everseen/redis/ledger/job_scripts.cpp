#include "everseen/redis/ledger/job_scripts.hpp"

#include "everseen/redis/script/script_text.hpp"

namespace everseen::redis::job_scripts {

const script& unlist() {
  static const script s = script_text::make(R"(
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return redis.call('HEXISTS', KEYS[2], ARGV[3]) end
redis.call('HSET', KEYS[2], ARGV[3], '')
redis.call('HDEL', KEYS[1], ARGV[1])
return 1
)");
  return s;
}

const script& enlist() {
  static const script s = script_text::make(R"(
local at = redis.call('HMGET', KEYS[2], 'id', 'next', 'after')
if not at[1] then return 0 end
if (at[2] or at[3]) and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 2 end
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return 1
)");
  return s;
}

const script& mark_partition() {
  static const script s = script_text::make(R"(
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], '1')
return 1
)");
  return s;
}

const script& begin_records() {
  static const script s = script_text::make(R"(
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('HSETNX', KEYS[2], '', '1') == 1 or redis.call('PTTL', KEYS[2]) >= 0 then
  redis.call('PEXPIRE', KEYS[2], ARGV[1])
end
return 1
)");
  return s;
}

const script& put_down() {
  static const script s = script_text::make(R"(
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
local function is_behind(one, other)
  for i = 1, 8 do
    local a, b = string.byte(one, i) or 0, string.byte(other, i) or 0
    if a ~= b then return a < b end
  end
  return false
end
for i = 3, #ARGV, 3 do
  local so_far = redis.call('HGET', KEYS[2], ARGV[i]) or string.rep('\0', 8)
  if ARGV[i+2] ~= '' and string.sub(so_far, 1, 8) ~= ARGV[i+2] then return 2 end
end
for i = 3, #ARGV, 3 do
  local before = redis.call('HGET', KEYS[2], ARGV[i])
  if not before or not is_behind(ARGV[i+1], before) then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i+1])
  end
end
return 1
)");
  return s;
}

}  // namespace everseen::redis::job_scripts
