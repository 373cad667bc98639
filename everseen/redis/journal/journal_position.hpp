#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace everseen::redis {

/// A place between two records of a partition's journal.
///
/// The checksum of the record before it makes it one of this history alone: a server that came back with less
/// than it had, and was written to since, has no such place.
struct journal_position {
  std::uint64_t offset = 0;    ///< bytes from the beginning of the journal
  std::uint64_t checksum = 0;  ///< of the record before; 0 at the beginning
  friend bool operator==(const journal_position&, const journal_position&) = default;
};

/// The offset in decimal, a colon, the checksum in 16 hexadecimal digits.
[[nodiscard]] std::string to_text(const journal_position& p);
[[nodiscard]] std::optional<journal_position> parse_journal_position(std::string_view text);

/// Length of the strings in which a journal is kept. Redis moves a string whenever it outgrows its memory,
/// which for one of 32 MiB costs more than all else.
inline constexpr std::uint64_t journal_chunk_bytes = std::uint64_t{4} << 20;

/// Where the chunk begins that follows the one which holds `offset`.
[[nodiscard]] constexpr std::uint64_t begin_of_next_chunk(std::uint64_t offset) noexcept {
  return (offset / journal_chunk_bytes + 1) * journal_chunk_bytes;
}

/// From this length on a record lies in a chunk of its own, which a server takes without a look at its bytes:
/// what goes through a script is hashed byte by byte (doc/measurements.md, "Judged by clients").
inline constexpr std::uint64_t long_record_bytes = std::uint64_t{32} << 10;

/// Stands in a chunk where a record would begin: the journal goes on at the beginning of the next one.
inline constexpr char next_chunk_mark = '>';

/// Where a record of so many bytes begins that follows one which ends at `offset`.
[[nodiscard]] constexpr std::uint64_t begin_of_record(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::uint64_t in_chunk = offset % journal_chunk_bytes;
  return bytes < long_record_bytes || in_chunk == 0 ? offset : offset - in_chunk + journal_chunk_bytes;
}

}  // namespace everseen::redis
