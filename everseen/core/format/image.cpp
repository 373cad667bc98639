#include "everseen/core/format/image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include <sodium.h>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/format/image_fields.hpp"

namespace everseen::image {

using fields::checksum_bytes;

namespace {

constexpr std::size_t entry_bytes = 40;
constexpr std::size_t manifest_head_bytes = 48 + spec_bytes;
/// The checksum covers the bytes before the count.
constexpr std::size_t segment_sealed_bytes = key_count_offset;

constexpr unsigned count_bits = 48;
constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;

[[noreturn]] void refuse_length(std::string_view subject, std::size_t is, std::size_t should) {
  throw format_error("the " + std::string(subject) + " is " + std::to_string(is) +
                     " bytes long and should be " + std::to_string(should) +
                     ": it was cut off or is damaged; restore it from an export or drop it");
}

/// CRC-16/CCITT-FALSE of 48 bits. It detects every change of up to three bits. The check of zero is not zero,
/// so a zeroed page is detected, too.
std::uint16_t count_check(std::uint64_t count) noexcept {
  std::uint32_t crc = 0xFFFF;
  for (unsigned bit = count_bits; bit-- > 0;) {
    crc ^= static_cast<std::uint32_t>((count >> bit) & 1) << 15;
    crc = (crc & 0x8000) != 0 ? (crc << 1 ^ 0x1021) & 0xFFFF : crc << 1;
  }
  return static_cast<std::uint16_t>(crc);
}

void put_shape(fields::writer& out, const geometry& shape) noexcept {
  out.put(static_cast<std::uint8_t>(shape.layout));
  out.put(shape.probes);
}

geometry get_shape(fields::reader& in) noexcept {
  geometry shape;
  shape.layout = static_cast<layout_kind>(in.get<std::uint8_t>());
  shape.probes = in.get<std::uint16_t>();
  return shape;
}

manifest::entry get_entry(fields::reader& in) {
  manifest::entry e;
  e.id.partition = in.get<std::uint32_t>();
  e.id.layer = in.get<std::uint32_t>();
  e.id.slice = in.get<std::int64_t>();
  const auto bytes = in.get<std::uint64_t>();
  e.capacity = in.get<std::uint64_t>();
  e.shape = get_shape(in);
  e.shape.bytes = bytes;
  in.reserved(5);
  fields::check_shape(in, e.shape);
  return e;
}

std::optional<window_spec> get_window(fields::reader& in) {
  const auto width = in.get<std::int64_t>();
  const auto slices = in.get<std::uint32_t>();
  if (width == 0 && slices == 0) return std::nullopt;
  if (width <= 0 || slices == 0) in.refuse("window and slices contradict each other");
  return window_spec{std::chrono::milliseconds(width), slices};
}

foreign_rules get_foreign_rules(fields::reader& in) {
  foreign_rules rules;
  rules.funnel = static_cast<funnel_kind>(in.get<std::uint8_t>());
  const auto flags = in.get<std::uint8_t>();
  if (to_string(rules.funnel) == "invalid") in.refuse("its funnel is not known");
  if (flags > 1) in.refuse("unknown flags");
  rules.powers_of_two = flags == 1;
  in.reserved(2);
  rules.expansion = in.get<std::uint32_t>();
  rules.first_bytes = in.get<std::uint64_t>();
  return rules;
}

}  // namespace

filter_id random_filter_id() {
  filter_id id;
  randombytes_buf(id.data(), id.size());
  return id;
}

namespace {

/// The last 4 bytes of an id count resets, from a random start.
constexpr std::size_t counter_bytes = 4;

}  // namespace

filter_id id_after_reset(filter_id id) noexcept {
  std::size_t position = id.size() - counter_bytes;
  while (position < id.size() && ++id[position] == 0) ++position;
  return id;
}

bool are_same_but_for_resets(const filter_id& a, const filter_id& b) noexcept {
  return std::equal(a.begin(), a.end() - counter_bytes, b.begin());
}

std::string to_string(const segment_id& id) {
  return std::to_string(id.partition) + "." + std::to_string(id.slice) + "." + std::to_string(id.layer);
}

std::array<std::byte, spec_bytes> encode_spec(const spec& s) {
  std::array<std::byte, spec_bytes> bytes{};
  fields::writer out(bytes);
  out.begin(fields::spec_magic);
  out.put(static_cast<std::uint8_t>(s.layout));
  out.put(s.probes);
  out.put(static_cast<std::uint8_t>(s.hash));
  out.put(static_cast<std::uint8_t>(s.growth));
  out.put(s.capacity);
  out.put(std::bit_cast<std::uint64_t>(s.error_rate));
  out.put(std::as_bytes(std::span(s.seed)));
  out.put(s.window ? static_cast<std::int64_t>(s.window->width.count()) : std::int64_t{0});
  out.put(s.window ? s.window->slices : std::uint32_t{0});
  out.put(s.partitions);
  out.put(static_cast<std::uint8_t>(s.foreign.funnel));
  out.put(std::uint8_t{s.foreign.powers_of_two});
  out.skip(2);
  out.put(s.foreign.expansion);
  out.put(s.foreign.first_bytes);
  out.put(static_cast<std::uint8_t>(s.judge));
  out.skip(7);
  out.seal();
  return bytes;
}

spec decode_spec(std::span<const std::byte> bytes) {
  if (bytes.size() != spec_bytes) refuse_length("spec", bytes.size(), spec_bytes);
  fields::reader in("spec", bytes);
  in.begin(fields::spec_magic);
  in.check_seal(spec_bytes - checksum_bytes, spec_bytes - checksum_bytes);
  spec s;
  s.layout = static_cast<layout_kind>(in.get<std::uint8_t>());
  s.probes = in.get<std::uint8_t>();
  s.hash = static_cast<hash_kind>(in.get<std::uint8_t>());
  s.growth = static_cast<growth_kind>(in.get<std::uint8_t>());
  if (to_string(s.layout) == "invalid") in.refuse("its layout is not known");
  if (to_string(s.hash) == "invalid") in.refuse("its hash is not known");
  if (s.growth < growth_kind::grow || s.growth > growth_kind::overfill) in.refuse("its growth is not known");
  s.capacity = in.get<std::uint64_t>();
  s.error_rate = std::bit_cast<double>(in.get<std::uint64_t>());
  in.get(s.seed);
  s.window = get_window(in);
  s.partitions = in.get<std::uint32_t>();
  s.foreign = get_foreign_rules(in);
  s.judge = static_cast<judge_kind>(in.get<std::uint8_t>());
  if (s.judge > judge_kind::client) in.refuse("who judges it is not known");
  in.reserved(7);
  validate(s);
  return s;
}

std::array<std::byte, segment_header_bytes> encode_segment_header(const segment_header& header) {
  std::array<std::byte, segment_header_bytes> bytes{};
  fields::writer out(bytes);
  out.begin(fields::segment_magic);
  put_shape(out, header.shape);
  out.skip(1);
  out.put(std::as_bytes(std::span(header.filter)));
  out.put(header.id.partition);
  out.put(header.id.layer);
  out.put(header.id.slice);
  out.put(header.shape.bytes);
  out.put(header.capacity);
  out.skip(48);
  out.put(encode_key_count(header.keys));
  out.seal(segment_sealed_bytes);
  return bytes;
}

segment_header decode_segment_header(std::span<const std::byte> bytes) {
  if (bytes.size() != segment_header_bytes)
    refuse_length("segment header", bytes.size(), segment_header_bytes);
  fields::reader in("segment header", bytes);
  in.begin(fields::segment_magic);
  in.check_seal(segment_header_bytes - checksum_bytes, segment_sealed_bytes);
  segment_header header;
  header.shape = get_shape(in);
  in.reserved(1);
  in.get(header.filter);
  header.id.partition = in.get<std::uint32_t>();
  header.id.layer = in.get<std::uint32_t>();
  header.id.slice = in.get<std::int64_t>();
  header.shape.bytes = in.get<std::uint64_t>();
  header.capacity = in.get<std::uint64_t>();
  in.reserved(48);
  fields::check_shape(in, header.shape);
  header.keys = decode_key_count(in.get<std::uint64_t>());
  return header;
}

std::uint64_t encode_key_count(std::uint64_t keys) noexcept {
  const std::uint64_t count = std::min(keys, count_mask);
  return std::uint64_t{count_check(count)} << count_bits | count;
}

std::uint64_t decode_key_count(std::uint64_t word) {
  const std::uint64_t count = word & count_mask;
  if (encode_key_count(count) != word)
    throw format_error(
        "the key count of the segment header is damaged: its check does not fit; restore it from an export "
        "or drop it");
  return count;
}

namespace {

std::size_t bytes_of_names(const manifest& m) noexcept {
  std::size_t bytes = 0;
  for (const std::string& job : m.jobs) bytes += sizeof(std::uint32_t) + job.size();
  return bytes;
}

/// @param end  position of the checksum
void get_names(fields::reader& in, std::size_t end, std::vector<std::string>& jobs) {
  while (in.position() < end) {
    const std::size_t left = end - in.position();
    const std::size_t length = left < sizeof(std::uint32_t) ? 0 : in.get<std::uint32_t>();
    if (length == 0 || length > left - sizeof(std::uint32_t)) in.refuse("the name of a job is cut off");
    const auto name = in.take(length);
    jobs.emplace_back(reinterpret_cast<const char*>(name.data()), name.size());
    validate_filter_name(jobs.back());
    if (jobs.size() > 1 && !(jobs[jobs.size() - 2] < jobs.back())) in.refuse("its jobs do not ascend");
  }
}

}  // namespace

std::vector<std::byte> encode_manifest(const manifest& m) {
  std::vector<std::byte> bytes(manifest_head_bytes + m.segments.size() * entry_bytes + bytes_of_names(m) +
                               checksum_bytes);
  fields::writer out(bytes);
  out.begin(fields::manifest_magic, fields::manifest_version);
  out.put(std::uint32_t{m.clean});
  out.put(std::as_bytes(std::span(m.filter)));
  out.put(m.revision);
  out.put(std::uint64_t{m.segments.size()});
  out.put(std::span<const std::byte>(encode_spec(m.spec)));
  for (const manifest::entry& e : m.segments) {
    out.put(e.id.partition);
    out.put(e.id.layer);
    out.put(e.id.slice);
    out.put(e.shape.bytes);
    out.put(e.capacity);
    put_shape(out, e.shape);
    out.skip(5);
  }
  for (const std::string& job : m.jobs) {
    out.put(static_cast<std::uint32_t>(job.size()));
    out.put(std::as_bytes(std::span(job)));
  }
  out.seal();
  return bytes;
}

manifest decode_manifest(std::span<const std::byte> bytes) {
  constexpr std::size_t fixed = manifest_head_bytes + checksum_bytes;
  if (bytes.size() < fixed) refuse_length("manifest", bytes.size(), fixed);
  fields::reader in("manifest", bytes);
  in.begin(fields::manifest_magic, fields::manifest_version);
  in.check_seal(bytes.size() - checksum_bytes, bytes.size() - checksum_bytes);
  manifest m;
  const auto clean = in.get<std::uint32_t>();
  if (clean > 1) in.refuse("unknown flags");
  m.clean = clean == 1;
  in.get(m.filter);
  m.revision = in.get<std::uint64_t>();
  const auto count = in.get<std::uint64_t>();
  if (count > (bytes.size() - fixed) / entry_bytes)
    in.refuse("its length does not fit its " + std::to_string(count) + " segments");
  m.spec = decode_spec(in.take(spec_bytes));
  m.segments.reserve(count);
  fields::segment_order order(m.spec);
  for (std::uint64_t i = 0; i < count; ++i) {
    m.segments.push_back(get_entry(in));
    const manifest::entry& e = m.segments.back();
    order.check(in, e.id, e.shape, e.capacity);
  }
  get_names(in, bytes.size() - checksum_bytes, m.jobs);
  return m;
}

}  // namespace everseen::image

namespace everseen {

std::string fingerprint_of(const spec& s) {
  spec anywhere = s;
  anywhere.judge = judge_kind::server;  // a copy on other servers may have another judge
  const auto bytes = image::encode_spec(anywhere);
  std::array<std::uint8_t, 16> hash{};
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size(), nullptr, 0);
  return hex_of(hash);
}

}  // namespace everseen
