#include "everseen/core/format/file_records.hpp"

#include <limits>

#include "everseen/core/base/names.hpp"
#include "everseen/core/format/image_fields.hpp"

namespace everseen::image {

namespace {

constexpr std::size_t head_bytes = 24;
constexpr std::size_t fixed_bytes = head_bytes + fields::checksum_bytes;
constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::vector<std::byte> encode_link(const std::optional<predecessor>& link) {
  const predecessor older = link.value_or(predecessor{});
  std::vector<std::byte> bytes(fixed_bytes + older.name.size());
  fields::writer out(bytes);
  out.begin(fields::link_magic);
  out.put(static_cast<std::uint32_t>(older.name.size()));
  out.put(older.until ? std::int64_t{older.until->time_since_epoch().count()} : for_ever);
  out.put(std::as_bytes(std::span(older.name)));
  out.seal();
  return bytes;
}

std::optional<predecessor> decode_link(std::span<const std::byte> bytes) {
  fields::reader in("link record", bytes);
  if (bytes.size() < fixed_bytes || bytes.size() > fixed_bytes + max_name_bytes)
    in.refuse("it is " + std::to_string(bytes.size()) + " bytes long");
  in.begin(fields::link_magic);
  in.check_seal(bytes.size() - fields::checksum_bytes, bytes.size() - fields::checksum_bytes);
  const auto length = in.get<std::uint32_t>();
  if (length != bytes.size() - fixed_bytes)
    in.refuse("its length does not fit a name of " + std::to_string(length) + " bytes");
  predecessor older;
  const auto until = in.get<std::int64_t>();
  if (until != for_ever) older.until = event_time(std::chrono::milliseconds(until));
  const auto name = in.take(length);
  if (length == 0 && !older.until) return std::nullopt;
  older.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  validate_filter_name(older.name);
  return older;
}

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
