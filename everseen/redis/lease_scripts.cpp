#include "everseen/redis/lease_scripts.hpp"

#include <string>
#include <string_view>

#include "everseen/redis/script_text.hpp"

namespace everseen::redis::scripts {

namespace {

using script_text::differs;
using script_text::leases;
using script_text::make;

// The next epoch makes every call stale that was planned before, also those of transactions, which cannot see
// the lease.
constexpr std::string_view take_lease_text = R"(
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 'M' end
if epoch ~= ARGV[1] then return 'S' end
local held = held_by_other(KEYS[1], ARGV[5])
if held then return held end
redis.call('HSET', KEYS[1], 'epoch', ARGV[2], 'manifest', ARGV[3])
redis.call('SET', KEYS[2], ARGV[4])
local ends_at = redis.call('HGET', KEYS[1], 'ends_at')
if ends_at then redis.call('PEXPIREAT', KEYS[2], ends_at) end
hold(KEYS[1], ARGV[5], ARGV[6])
return 'K'
)";

constexpr std::string_view write_page_text = R"(
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 'M' end
if epoch ~= ARGV[1] then return 'S' end
if not holds(KEYS[1], ARGV[2]) then return 'X' end
if ARGV[4] ~= '' and differs(KEYS[2], ARGV[4]) then return 'D1' end
redis.call('SETRANGE', KEYS[2], ARGV[5], ARGV[6])
if ARGV[4] == '' then redis.call('PEXPIRE', KEYS[2], ARGV[7]) end
hold(KEYS[1], ARGV[2], ARGV[3])
return 'K'
)";

constexpr std::string_view write_counts_text = R"(
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 'M' end
if epoch ~= ARGV[1] and epoch ~= ARGV[4] then return 'S' end
if not holds(KEYS[1], ARGV[2]) then return 'X' end
local new, counts = tonumber(ARGV[7]), tonumber(ARGV[8])
if epoch ~= ARGV[4] then
  for i = 1, new do
    if differs(KEYS[2+i], ARGV[8+i]) then return 'D' .. i end
  end
  redis.call('HSET', KEYS[1], 'epoch', ARGV[4], 'manifest', ARGV[5])
  redis.call('SET', KEYS[2], ARGV[6])
  local ends_at = redis.call('HGET', KEYS[1], 'ends_at')
  for i = 2, 2 + new do
    if ends_at then redis.call('PEXPIREAT', KEYS[i], ends_at) else redis.call('PERSIST', KEYS[i]) end
  end
  for i = 3 + new, #KEYS do
    redis.call('UNLINK', KEYS[i])
    redis.call('HDEL', KEYS[1], ARGV[6+2*counts+i])
  end
end
for i = 9 + new, 7 + new + 2 * counts, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i+1]) end
hold(KEYS[1], ARGV[2], ARGV[3])
return 'K'
)";

constexpr std::string_view release_text = R"(
if holds(KEYS[1], ARGV[1]) then redis.call('HDEL', KEYS[1], 'lease') end
return 'K'
)";

}  // namespace

const script& take_lease() {
  static const script one = make(std::string(leases) + std::string(take_lease_text));
  return one;
}

const script& write_page() {
  static const script one = make(std::string(differs) + std::string(leases) + std::string(write_page_text));
  return one;
}

const script& write_counts() {
  static const script one = make(std::string(differs) + std::string(leases) + std::string(write_counts_text));
  return one;
}

const script& release() {
  static const script one = make(std::string(leases) + std::string(release_text));
  return one;
}

}  // namespace everseen::redis::scripts
