#include "everseen/redis/fence.hpp"

#include "everseen/core/partition_keys.hpp"
#include "everseen/redis/command.hpp"

namespace everseen::redis::fence {

using partition_keys::fence_base;
using partition_keys::fence_second_base;

std::string bytes_of(std::uint64_t epoch) {
  return partition_keys::fence_bytes(epoch);
}

std::string guard(const std::string& key, std::uint64_t planned_epoch) {
  // What overflows the field in the planned epoch, by one.
  const auto step = static_cast<std::int64_t>(fence_base + 1 + planned_epoch);
  const auto second = static_cast<std::int64_t>(2 * fence_base - fence_second_base - planned_epoch);
  return encode({"WATCH", key}) + encode({"SET", key, "", "PX", "1000", "NX"}) +
         encode({"BITFIELD", key,   "OVERFLOW", "FAIL",
                 "INCRBY",   "u63", "0",        std::to_string(step),
                 "INCRBY",   "u63", "0",        std::to_string(-step),
                 "INCRBY",   "u63", "64",       std::to_string(second),
                 "INCRBY",   "u63", "64",       std::to_string(-second)});
}

}  // namespace everseen::redis::fence
