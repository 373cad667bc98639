#include "everseen/redis/fence.hpp"

#include "everseen/redis/command.hpp"

namespace everseen::redis::fence {

namespace {

constexpr std::uint64_t base = std::uint64_t{1} << 62;
constexpr std::uint64_t second_base = std::uint64_t{1} << 61;

/// The first 63 of 64 bits, big-endian.
std::string field(std::uint64_t value) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>((value << 1) >> shift);
  return bytes;
}

}  // namespace

std::string bytes_of(std::uint64_t epoch) {
  return field(base - 1 - epoch) + field(second_base + epoch);
}

std::string guard(const std::string& key, std::uint64_t planned_epoch) {
  // What overflows the field in the planned epoch, by one.
  const auto step = static_cast<std::int64_t>(base + 1 + planned_epoch);
  const auto second = static_cast<std::int64_t>(2 * base - second_base - planned_epoch);
  return encode({"WATCH", key}) + encode({"SET", key, "", "PX", "1000", "NX"}) +
         encode({"BITFIELD", key,   "OVERFLOW", "FAIL",
                 "INCRBY",   "u63", "0",        std::to_string(step),
                 "INCRBY",   "u63", "0",        std::to_string(-step),
                 "INCRBY",   "u63", "64",       std::to_string(second),
                 "INCRBY",   "u63", "64",       std::to_string(-second)});
}

}  // namespace everseen::redis::fence
