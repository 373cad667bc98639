#include "everseen/foreign/attached/attachment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/image_fields.hpp"
#include "everseen/core/format/redis_keys.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/foreign/bitmap/php_filters.hpp"
#include "everseen/foreign/guava/guava.hpp"
#include "everseen/redis/wire/slot_map.hpp"

namespace everseen::foreign {

namespace {

using form = attachment::form;
using image::fields::checksum_bytes;

constexpr std::string_view record_magic = "EVSNatta";
constexpr std::size_t record_bytes = 40;
constexpr std::size_t unused_bytes = 3;

constexpr std::uint64_t max_bitmap_bytes = partition_keys::max_segment_bytes;
constexpr std::uint64_t max_bitmap_bits = 8 * max_bitmap_bytes;
constexpr std::uint64_t max_strings = 65'536;
/// The maximum length of a chain. Each string has the whole error rate and is searched for each key, so a
/// chain is slow and useless long before.
constexpr std::uint64_t most_strings = 1'000;
constexpr std::uint8_t was_there_flag = 1;

bool is_guava(family which) noexcept {
  return which == family::guava32 || which == family::guava64;
}

bkdr_php::shards shards_of(const attachment& a) {
  return {a.hashing.bits, a.instances};
}

/// The strings of a sharded filter that keys can reach: both choices depend on the same number.
std::uint64_t used_strings(const attachment& a) {
  if (a.shape != form::sharded) return 1;
  const std::uint64_t partitions = shards_of(a).partitions();
  return a.instances * partitions / std::gcd<std::uint64_t>(a.instances, partitions);
}

void validate_shape(const attachment& a) {
  switch (a.shape) {
    case form::single:
      if (a.hashing.bits > max_bitmap_bits)
        throw parameter_error(
            "a Redis string ends at 4294967296 bits; only bkdr-php knows several strings, with --sharded");
      return;
    case form::growing:
      if (!is_guava(a.hashing.which))
        throw parameter_error("--growing is a form of guava32 and guava64 alone");
      if (a.hashing.bits % guava::word_bits != 0)
        throw parameter_error(
            "the bitmaps of a growing filter are whole words; give --bits as a multiple of 64");
      if (a.hashing.bits > max_bitmap_bits) throw parameter_error("a Redis string ends at 4294967296 bits");
      if (a.cursor.empty()) throw parameter_error("a growing filter needs the key of its cursor");
      return;
    case form::sharded:
      if (a.hashing.which != family::bkdr_php) throw parameter_error("--sharded is a form of bkdr-php alone");
      if (a.instances * shards_of(a).partitions() > max_strings)
        throw parameter_error("this many bits would be spread over more than 65536 strings; check --bits");
      return;
  }
}

}  // namespace

void validate(const attachment& a) {
  if (a.hashing.which == family::redisbloom)
    throw parameter_error(
        "a filter of RedisBloom is a value of its module and not a string of bits; copy it with BF.SCANDUMP "
        "and everseen import");
  validate(a.hashing);
  if (a.hashing.probes > max_probes)
    throw parameter_error("a filter can be attached with up to 64 probes; this one has " +
                          std::to_string(a.hashing.probes));
  if (a.funnel != funnel_kind::bytes && !is_guava(a.hashing.which))
    throw parameter_error("--funnel means something to guava32 and guava64 alone");
  if (a.key.empty())
    throw parameter_error("an empty name cannot be attached; give the name of a key in Redis");
  validate_shape(a);
}

std::string growing_key(const attachment& a, std::uint64_t number) {
  return guava::redis_strings::key(a.key, number);
}

std::vector<bitmap_place> places_of(const attachment& a, std::uint64_t newest) {
  std::vector<bitmap_place> all;
  switch (a.shape) {
    case form::single:
      return {{a.key, 0}};
    case form::growing:
      for (std::uint64_t i = 0; i <= newest; ++i) all.push_back({growing_key(a, i), 0});
      return all;
    case form::sharded: {
      const std::uint64_t partitions = shards_of(a).partitions();
      const std::uint64_t common = std::gcd<std::uint64_t>(a.instances, partitions);
      for (std::uint32_t i = 0; i < a.instances; ++i)
        for (std::uint64_t p = 0; p < partitions; ++p)
          if (i % common == p % common) all.push_back({bkdr_php::shards::redis_key(a.key, p), i});
      return all;
    }
  }
  return all;
}

std::uint64_t reachable_bits(const attachment& a) noexcept {
  const std::uint64_t reachable = facts(a.hashing.which).reachable_bits;
  return reachable == 0 ? a.hashing.bits : std::min(a.hashing.bits, reachable);
}

std::uint64_t longest_bytes(const attachment& a) noexcept {
  return std::min((a.hashing.bits + 7) / 8, max_bitmap_bytes);
}

spec spec_of(const attachment& a) {
  spec s;
  const double bits = static_cast<double>(reachable_bits(a)) * static_cast<double>(used_strings(a));
  s.capacity = static_cast<std::uint64_t>(std::max(1.0, bits * std::log(2.0) / a.hashing.probes));
  s.error_rate = std::pow(0.5, a.hashing.probes);
  s.layout = layout_kind::classic;
  s.probes = static_cast<std::uint8_t>(a.hashing.probes);
  s.growth = growth_kind::overfill;
  s.foreign.funnel = a.funnel;
  return s;
}

std::string to_string(const attachment& a) {
  const family_facts& family = facts(a.hashing.which);
  std::string text = std::string(family.system) + ", " + std::to_string(a.hashing.probes) + " probes in " +
                     std::to_string(a.hashing.bits) + " bits";
  if (a.shape == form::growing) text += ", growing";
  if (a.shape == form::sharded)
    text += ", over " + std::to_string(a.instances) + " servers with " +
            std::to_string(shards_of(a).partitions()) + " strings each";
  return text;
}

namespace {

std::string word_for(form shape) {
  switch (shape) {
    case form::single:
      return "one string";
    case form::growing:
      return "growing";
    case form::sharded:
      return "sharded";
  }
  return "";
}

}  // namespace

std::vector<foreign_bits::property> properties_of(const attachment& a) {
  std::vector<foreign_bits::property> all = {{"family", std::string(facts(a.hashing.which).name)},
                                             {"key", a.key},
                                             {"bits", a.hashing.bits},
                                             {"probes", std::uint64_t{a.hashing.probes}},
                                             {"form", word_for(a.shape)}};
  if (a.funnel != funnel_kind::bytes) all.push_back({"funnel", std::string(to_string(a.funnel))});
  if (!a.cursor.empty()) all.push_back({"cursor", a.cursor});
  if (a.instances > 0) all.push_back({"instances", std::uint64_t{a.instances}});
  return all;
}

std::string encode(const attachment& a) {
  std::array<std::byte, record_bytes> bytes{};
  image::fields::writer out(bytes);
  out.begin(record_magic);
  out.put(static_cast<std::uint8_t>(a.hashing.which));
  out.put(static_cast<std::uint8_t>(a.hashing.probes));
  out.put(static_cast<std::uint8_t>(a.funnel));
  out.put(static_cast<std::uint8_t>(a.shape));
  out.put(a.hashing.bits);
  out.put(a.instances);
  out.put(a.was_there ? was_there_flag : std::uint8_t{0});
  out.skip(unused_bytes);
  out.seal();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

attachment decode_attachment(std::string_view record, std::string_view key, std::string_view cursor) {
  image::fields::reader in("attachment", std::as_bytes(std::span(record)));
  if (record.size() != record_bytes) in.refuse("it is " + std::to_string(record.size()) + " bytes long");
  in.begin(record_magic);
  in.check_seal(record_bytes - checksum_bytes, record_bytes - checksum_bytes);
  attachment a;
  const auto family_number = in.get<std::uint8_t>();
  if (family_number >= all_families().size()) in.refuse("its family is not known");
  a.hashing.which = static_cast<family>(family_number);
  a.hashing.probes = in.get<std::uint8_t>();
  a.funnel = static_cast<funnel_kind>(in.get<std::uint8_t>());
  if (to_string(a.funnel) == "invalid") in.refuse("its funnel is not known");
  a.shape = static_cast<form>(in.get<std::uint8_t>());
  if (a.shape > form::sharded) in.refuse("its form is not known");
  a.hashing.bits = in.get<std::uint64_t>();
  a.instances = in.get<std::uint32_t>();
  const auto flags = in.get<std::uint8_t>();
  if (flags > was_there_flag) in.refuse("its flags are not known");
  a.was_there = flags == was_there_flag;
  in.reserved(unused_bytes);
  a.key = key;
  a.cursor = cursor;
  validate(a);
  return a;
}

std::optional<std::uint64_t> cursor_number(std::string_view text) noexcept {
  const auto number = read_number(text);
  return number && *number < most_strings && std::to_string(*number) == text ? number : std::nullopt;
}

std::string string_fault::of_another_type(std::string_view key) {
  return "the key " + std::string(key) + " is no string of bits; check its name and what became of it";
}

std::string string_fault::of_length(std::string_view key, const attachment& a) {
  return "the key " + std::string(key) + " is longer than the " + std::to_string(a.hashing.bits) +
         " bits of its filter; check --bits and what became of it";
}

std::string string_fault::of_cursor(std::string_view key, std::string_view holds) {
  return "the cursor " + std::string(key) + " holds '" + std::string(holds.substr(0, 40)) +
         "', which is no number of a string (0 to " + std::to_string(most_strings - 1) + ")";
}

std::string string_fault::of_missing(std::string_view key, const attachment& a) {
  return "the key " + std::string(key) + " is missing, though the cursor " + a.cursor +
         " says that it was begun: it was deleted or evicted, or two programs that began a string at the "
         "same moment skipped it. Restore it; or, if what it had may be forgotten, begin it with: SETBIT " +
         std::string(key) + " " + std::to_string(a.hashing.bits - 1) + " 0";
}

std::string string_fault::of_lost_cursor(std::string_view cursor, std::string_view second) {
  return "the cursor " + std::string(cursor) + " is missing, though there is " + std::string(second) +
         ": it was deleted or evicted; set it to the number of the newest string";
}

std::string token_key(std::string_view own, const std::string& bitmap, std::string_view client) {
  return std::string(own) + "{" + redis::tag_of_slot(bitmap) + "}" + bitmap + ":t:" + std::string(client);
}

}  // namespace everseen::foreign
