/// The byte formats of everything stored: doc/format.md, with a worked example.
///
/// All integers are little-endian, but the positions of a lane record. Every header and manifest ends in an
/// XXH3-64 checksum of the bytes before it; that of a segment does not cover the count of keys behind it,
/// which has a checksum of its own. Decoding trusts nothing: a short, damaged, foreign or newer image is a
/// format_error that names the invalid field, before anything is allocated from its numbers. Pure: no files
/// here.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/core/partition/segments.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen::image {

/// Identifies the filter that a segment belongs to; random, generated at creation.
using filter_id = std::array<std::uint8_t, 16>;

[[nodiscard]] filter_id random_filter_id();

/// The id of a filter after a reset. It differs from the old id, but its origin can be recognised.
[[nodiscard]] filter_id id_after_reset(filter_id id) noexcept;
/// Whether the two ids differ only by resets.
[[nodiscard]] bool are_same_but_for_resets(const filter_id& a, const filter_id& b) noexcept;

inline constexpr std::size_t spec_bytes = 96;             ///< an encoded spec, checksum included
inline constexpr std::size_t segment_header_bytes = 128;  ///< before the bits in files and streams

[[nodiscard]] std::array<std::byte, spec_bytes> encode_spec(const spec& s);
/// @throws format_error  damaged, foreign or of another version    @throws parameter_error  as validate(spec)
[[nodiscard]] spec decode_spec(std::span<const std::byte> bytes);

/// "<partition>.<slice>.<layer>": the name of a segment in messages and directories.
[[nodiscard]] std::string to_string(const segment_id& id);

/// The header before the bits of a stored segment.
struct segment_header {
  filter_id filter{};
  segment_id id;
  geometry shape;
  std::uint64_t capacity = 0;
  std::uint64_t keys = 0;  ///< see key_count; changes in place, so the header's checksum omits it
  friend bool operator==(const segment_header&, const segment_header&) = default;
};

[[nodiscard]] std::array<std::byte, segment_header_bytes> encode_segment_header(const segment_header& header);
/// @throws format_error  as decode_spec
[[nodiscard]] segment_header decode_segment_header(std::span<const std::byte> bytes);

/// The key count inside a mapped segment header: 48 bits of count and 16 bits of check in one aligned word. A
/// single store replaces it, so a process killed at any moment leaves either the old or the new count.
inline constexpr std::size_t key_count_offset = 112;
[[nodiscard]] std::uint64_t encode_key_count(std::uint64_t keys) noexcept;
/// @throws format_error  the check does not match the count
[[nodiscard]] std::uint64_t decode_key_count(std::uint64_t word);

/// The list of a stored filter's segments: it combines files into one filter.
struct manifest {
  filter_id filter{};
  std::uint64_t revision = 0;  ///< incremented with each change of the list
  everseen::spec spec;
  bool clean = false;  ///< closed properly: the key counts in the segments are final
  struct entry {
    segment_id id;
    geometry shape;
    std::uint64_t capacity = 0;
    friend bool operator==(const entry&, const entry&) = default;
  };
  std::vector<entry> segments;      ///< ascending by id
  std::vector<std::string> jobs{};  ///< names, ascending; only in files, where each has a journal
  friend bool operator==(const manifest&, const manifest&) = default;
};

[[nodiscard]] std::vector<std::byte> encode_manifest(const manifest& m);
/// @throws format_error, parameter_error  as decode_spec
[[nodiscard]] manifest decode_manifest(std::span<const std::byte> bytes);

}  // namespace everseen::image

namespace everseen {

/// Distinguishes a filter from others that have its name at another time: a one-way hash of its spec, as 32
/// hexadecimal digits.
///
/// Filters that are created with the same options differ in their secret seed, which the digits do not
/// reveal. Those with the hash of another system have no seed, so two of the same spec have the same
/// fingerprint. A reset does not change it.
[[nodiscard]] std::string fingerprint_of(const spec& s);

}  // namespace everseen
