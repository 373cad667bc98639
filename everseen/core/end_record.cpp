#include "everseen/core/end_record.hpp"

#include "everseen/core/image_fields.hpp"

namespace everseen::image {

namespace {

constexpr std::size_t unused_bytes = 4;

}  // namespace

std::array<std::byte, end_bytes> encode_end(event_time when) {
  std::array<std::byte, end_bytes> bytes{};
  fields::writer out(bytes);
  out.begin(fields::life_magic);
  out.skip(unused_bytes);
  out.put(std::int64_t{when.time_since_epoch().count()});
  out.seal();
  return bytes;
}

event_time decode_end(std::span<const std::byte> bytes) {
  fields::reader in("end record", bytes);
  if (bytes.size() != end_bytes) in.refuse("it is " + std::to_string(bytes.size()) + " bytes long");
  in.begin(fields::life_magic);
  in.check_seal(end_bytes - fields::checksum_bytes, end_bytes - fields::checksum_bytes);
  in.reserved(unused_bytes);
  return event_time(std::chrono::milliseconds(in.get<std::int64_t>()));
}

}  // namespace everseen::image
