#include "everseen/redis/fence.hpp"

#include "everseen/redis/command.hpp"

namespace everseen::redis::fence {

namespace {

constexpr std::uint64_t base = std::uint64_t{1} << 62;

}  // namespace

std::string bytes_of(std::uint64_t epoch) {
  const std::uint64_t field = (base - 1 - epoch) << 1;  // the first 63 bits of 64
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(field >> shift);
  return bytes;
}

std::string guard(const std::string& key, std::uint64_t planned_epoch) {
  const std::string step = std::to_string(base + 1 + planned_epoch);
  const std::string back = std::to_string(-static_cast<std::int64_t>(base + 1 + planned_epoch));
  return encode({"SETNX", key, bytes_of(planned_epoch)}) + encode({"WATCH", key}) +
         encode(
             {"BITFIELD", key, "OVERFLOW", "FAIL", "INCRBY", "u63", "0", step, "INCRBY", "u63", "0", back});
}

}  // namespace everseen::redis::fence
