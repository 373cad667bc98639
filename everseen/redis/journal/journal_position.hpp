#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace everseen::redis {

/// A place between two records of a partition's journal.
///
/// It contains the checksum of the record before it, which is unique to this history. A server that came back
/// with less data, and was written to since, has no such place.
struct journal_position {
  std::uint64_t offset = 0;    ///< bytes from the beginning of the journal
  std::uint64_t checksum = 0;  ///< of the record before; 0 at the beginning
  friend bool operator==(const journal_position&, const journal_position&) = default;
};

/// The offset in decimal, a colon, the checksum in 16 hexadecimal digits.
[[nodiscard]] std::string to_text(const journal_position& p);
[[nodiscard]] std::optional<journal_position> parse_journal_position(std::string_view text);

/// Length of the strings that hold a journal. Redis moves a string whenever it outgrows its memory; for a
/// string of 32 MiB this would cost more than everything else.
inline constexpr std::uint64_t journal_chunk_bytes = std::uint64_t{4} << 20;

/// The beginning of the chunk after the one that holds `offset`.
[[nodiscard]] constexpr std::uint64_t begin_of_next_chunk(std::uint64_t offset) noexcept {
  return (offset / journal_chunk_bytes + 1) * journal_chunk_bytes;
}

/// Records of this length and more get chunks of their own, which the server stores without reading their
/// bytes: Redis hashes every byte that goes through a script (doc/measurements.md, "Judged by clients").
inline constexpr std::uint64_t long_record_bytes = std::uint64_t{8} << 10;

/// Found in a chunk instead of a record: the journal continues at the beginning of the next chunk.
inline constexpr char next_chunk_mark = '>';

/// Where a record of this length begins if the previous one ends at `offset`.
[[nodiscard]] constexpr std::uint64_t begin_of_record(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::uint64_t in_chunk = offset % journal_chunk_bytes;
  return bytes < long_record_bytes || in_chunk == 0 ? offset : offset - in_chunk + journal_chunk_bytes;
}

}  // namespace everseen::redis
