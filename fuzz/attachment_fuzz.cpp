// Any record of a filter that another program keeps: it is read or refused, and what was read is written
// again byte for byte.
//
// The first two bytes are the lengths of its keys; they follow, and the rest is the record.
//
// Decodes: everseen/foreign/attached/attachment.cpp

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/foreign/attached/attachment.hpp"

namespace {

using namespace everseen;
using namespace everseen::foreign;

void require(bool truth) {
  if (!truth) std::abort();
}

/// What everseen makes of a record when it opens the filter and answers a key.
void use(const attachment& a) {
  const spec s = spec_of(a);
  require(s.capacity > 0 && s.probes == a.hashing.probes && longest_bytes(a) > 0);
  require(!to_string(a).empty() && !properties_of(a).empty());
  const std::vector<bitmap_place> places = places_of(a, 3);
  require(!places.empty());
  for (const bitmap_place& place : std::span(places).first(std::min<std::size_t>(places.size(), 4))) {
    require(place.key.starts_with(a.key) && (a.instances == 0 || place.instance < a.instances));
    require(token_key("own", place.key, "client").starts_with("own{"));
    require(!string_fault::of_length(place.key, a).empty() &&
            !string_fault::of_missing(place.key, a).empty());
    require(!string_fault::of_another_type(place.key).empty());
  }
  std::vector<std::uint64_t> bits(a.hashing.probes);
  positions(a.hashing, a.key, bits);
  for (const std::uint64_t bit : bits) require(bit < a.hashing.bits);
  require(!digest_text(a.hashing.which, a.hashing.probes, a.key).empty());
  (void)warning_about(a.hashing);
}

void check(std::string_view record, std::string_view key, std::string_view cursor) {
  try {
    const attachment a = decode_attachment(record, key, cursor);
    require(encode(a) == record);
    use(a);
  } catch (const error&) {
    // refused, as most inputs should be
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (size < 2) return 0;
  const auto take = [&](std::size_t bytes) {
    const std::string_view part = input.substr(0, bytes);
    input.remove_prefix(part.size());
    return part;
  };
  const std::string_view lengths = take(2);
  const std::string_view key = take(static_cast<unsigned char>(lengths[0]));
  const std::string_view cursor = take(static_cast<unsigned char>(lengths[1]));
  if (const auto number = cursor_number(cursor)) require(std::to_string(*number) == cursor);
  require(!string_fault::of_cursor(key, cursor).empty() &&
          !string_fault::of_lost_cursor(key, cursor).empty());
  if (const auto named = parse_family(key))
    require(facts(*named).name == key && !digest_text(*named, 1, cursor).empty());
  check(input, key, cursor);
  if (input.size() < 8) return 0;
  std::string sealed(input);
  const std::size_t covered = sealed.size() - 8;
  store_le(sealed.data() + covered, checksum(std::as_bytes(std::span(sealed).first(covered))));
  check(sealed, key, cursor);
  return 0;
}
