#include "everseen/core/format/end_record.hpp"

#include <limits>

#include "everseen/core/format/image_fields.hpp"

namespace everseen::image {

namespace {

constexpr std::size_t unused_bytes = 4;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::array<std::byte, end_bytes> encode_end(std::optional<event_time> when) {
  std::array<std::byte, end_bytes> bytes{};
  fields::writer out(bytes);
  out.begin(fields::life_magic);
  out.skip(unused_bytes);
  out.put(when ? std::int64_t{when->time_since_epoch().count()} : never);
  out.seal();
  return bytes;
}

std::optional<event_time> decode_end(std::span<const std::byte> bytes) {
  fields::reader in("end record", bytes);
  if (bytes.size() != end_bytes) in.refuse("it is " + std::to_string(bytes.size()) + " bytes long");
  in.begin(fields::life_magic);
  in.check_seal(end_bytes - fields::checksum_bytes, end_bytes - fields::checksum_bytes);
  in.reserved(unused_bytes);
  const auto when = in.get<std::int64_t>();
  if (when == never) return std::nullopt;
  return event_time(std::chrono::milliseconds(when));
}

}  // namespace everseen::image
