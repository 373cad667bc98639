#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/hash/funnel.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/foreign/bitmap/family.hpp"
#include "everseen/store/port/stored_filter.hpp"

namespace everseen::foreign {

/// A filter that another program keeps in Redis and that everseen uses beside it: doc/format.md, "Attached
/// filters".
///
/// Its bits belong to the other program. The names of the strings, the positions of the bits and the growth
/// rule are those of its family, and everseen writes nothing but bits.
struct attachment {
  /// How keys are spread over strings.
  enum class form : std::uint8_t {
    single,   ///< one string, named `key`
    growing,  ///< KEY-0, KEY-1, … of equal length, and `cursor` says which is the newest: the Guava of Java
    sharded,  ///< KEY.0, KEY.1, … on each of `instances` servers: bkdr-php of more than one string or server
  };

  scheme hashing;
  funnel_kind funnel = funnel_kind::bytes;
  form shape = form::single;
  std::string key{};
  std::string cursor{};         ///< the key of the cursor; empty unless it grows
  std::uint32_t instances = 0;  ///< 0 unless sharded
  bool was_there = false;       ///< every string was there when it was attached, so a missing one was lost

  friend bool operator==(const attachment&, const attachment&) = default;
};

/// A string that holds bits of an attached filter.
struct bitmap_place {
  std::string key;
  std::uint32_t instance = 0;  ///< among several servers
  friend bool operator==(const bitmap_place&, const bitmap_place&) = default;
};

/// @throws parameter_error  the family knows no such filter, or it would not fit Redis
void validate(const attachment& a);

/// Every string that keys may be sent to.
/// @param newest  the cursor's value, for a growing filter; otherwise ignored
[[nodiscard]] std::vector<bitmap_place> places_of(const attachment& a, std::uint64_t newest);
[[nodiscard]] std::string growing_key(const attachment& a, std::uint64_t number);

/// Bits of one string that hashes can reach. These are fewer than the scheme names if hashes have 31 bits.
[[nodiscard]] std::uint64_t reachable_bits(const attachment& a) noexcept;
/// The maximum length of a string, reached when its last bit is set.
[[nodiscard]] std::uint64_t longest_bytes(const attachment& a) noexcept;

/// The attached filter as a spec: a classic filter of one partition that accepts keys even when it is full.
/// Its capacity is the number of keys that set half of the bits; its error rate follows from that.
[[nodiscard]] spec spec_of(const attachment& a);

/// A readable description: "go-zero's Redis filter, 14 probes in 20,971,520 bits".
[[nodiscard]] std::string to_string(const attachment& a);

/// For programs: its family, key, bits and probes, and how it is spread over strings.
[[nodiscard]] std::vector<foreign_bits::property> properties_of(const attachment& a);

/// The attachment as stored in a header, without the names of its keys: doc/format.md, "Attached filters".
[[nodiscard]] std::string encode(const attachment& a);
/// @param key, cursor  stored beside the record
/// @throws format_error  damaged    @throws parameter_error  as validate
[[nodiscard]] attachment decode_attachment(std::string_view record, std::string_view key,
                                           std::string_view cursor);

/// The number in a cursor; nothing if it is not the number of a string.
[[nodiscard]] std::optional<std::uint64_t> cursor_number(std::string_view text) noexcept;

/// Readable reasons why a key differs from what was attached.
namespace string_fault {
[[nodiscard]] std::string of_another_type(std::string_view key);
[[nodiscard]] std::string of_length(std::string_view key, const attachment& a);
[[nodiscard]] std::string of_cursor(std::string_view key, std::string_view holds);
/// A string of a chain.
[[nodiscard]] std::string of_missing(std::string_view key, const attachment& a);
[[nodiscard]] std::string of_lost_cursor(std::string_view cursor, std::string_view second);
}  // namespace string_fault

/// The key in which the server remembers a client's last batch for a string and its answer. It is everseen's
/// own, in the slot of the string; strings of one hash tag have different tokens.
/// @param own  the prefix of all names of this attachment, unlike that of any other
[[nodiscard]] std::string token_key(std::string_view own, const std::string& bitmap, std::string_view client);

}  // namespace everseen::foreign
