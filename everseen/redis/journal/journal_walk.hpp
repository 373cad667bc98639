#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/partition/journal_record.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"

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

/// Reads the records of a journal from one position to another, chunk by chunk. Trusts nothing: the chain of
/// checksums decides what comes next.
///
/// Cost: one round trip for each 4 MiB or 16 chunks.
class journal_walk {
 public:
  /// Bytes of one chunk.
  struct piece {
    std::uint64_t offset;  ///< an offset in the journal
    std::string bytes;
  };

  /// @param f  must outlive this, as must `connections`
  /// @param known  pieces already read, from `from` on, in order; may have gaps
  journal_walk(server_connections& connections, const filter_identity& f, std::uint32_t partition,
               const journal_position& from, const journal_position& end, std::vector<piece> known);

  /// @return the next record; nothing: `end` is reached, or the journal does not lead from here to there
  /// @throws backend_error  no answer    @throws format_error  a chunk has another type
  [[nodiscard]] std::optional<journal_record> next();
  /// The end of the record last returned by next(); at first, the start of the walk.
  [[nodiscard]] const journal_position& position() const noexcept { return position_; }
  /// The length of the record last returned by next().
  [[nodiscard]] std::uint64_t record_bytes() const noexcept { return record_bytes_; }

 private:
  [[nodiscard]] std::string_view unread() const noexcept { return std::string_view(text_).substr(read_); }
  [[nodiscard]] bool goes_on_in_next_chunk() const noexcept;
  void step_to_next_chunk();
  [[nodiscard]] bool read_more();
  void ask_from(std::uint64_t from);

  server_connections& connections_;
  const filter_identity& filter_;
  const std::uint32_t partition_;
  const journal_position goal_;
  journal_position position_;
  std::uint64_t record_bytes_ = 0;
  std::uint64_t unread_at_;  // where unread() begins
  std::string text_{};       // without a gap
  std::size_t read_ = 0;     // bytes of it
  std::deque<piece> ahead_;  // read as well
};

/// What a mirror knows of a journal: its beginning, the mirror's position, and the bytes between them.
///
/// The bytes cannot be computed from offsets, since there may be a gap after the last record of a chunk.
/// Threads: one at a time.
class known_journal {
 public:
  [[nodiscard]] const journal_position& begin() const noexcept { return begin_; }
  [[nodiscard]] const journal_position& end() const noexcept { return end_; }
  /// The total length of the records in between.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return end_.offset > begin_.offset ? end_.offset - begin_.offset - in_gaps_ : 0;
  }

  /// Forgets everything except the beginning.
  void start_at(const journal_position& p);
  /// A checkpoint has moved the beginning, possibly past the mirror's position.
  void move_begin(const journal_position& p);
  /// The next record ends there.
  /// @pre  p.offset >= end().offset + bytes
  void go_on_to(const journal_position& p, std::uint64_t bytes);

 private:
  struct gap {
    std::uint64_t end;
    std::uint64_t bytes;
  };

  journal_position begin_{};
  journal_position end_{};
  std::deque<gap> gaps_{};  // between the two
  std::uint64_t in_gaps_ = 0;
};

}  // namespace everseen::redis
