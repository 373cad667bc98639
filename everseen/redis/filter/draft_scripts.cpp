#include "everseen/redis/filter/draft_scripts.hpp"

#include "everseen/redis/script/script_text.hpp"

namespace everseen::redis::draft_scripts {

const script& begin_state() {
  static const script s = script_text::make(R"(
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
)");
  return s;
}

const script& begin_value() {
  static const script s = script_text::make(R"(
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('EVERSEEN.LOADCHUNK', KEYS[1], 1, ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
)");
  return s;
}

const script& write_page() {
  static const script s = script_text::make(R"(
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('SETRANGE', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
)");
  return s;
}

const script& prolong() {
  static const script s = script_text::make(R"(
local left = redis.call('PTTL', KEYS[1])
if left == -2 then return 0 end
if left >= 0 and left < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1
)");
  return s;
}

}  // namespace everseen::redis::draft_scripts
