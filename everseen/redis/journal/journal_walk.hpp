#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/partition/journal_record.hpp"
#include "everseen/redis/journal/journal_position.hpp"
#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// Reads the records of a journal from one position to another, chunk by chunk. Trusts nothing: the chain of
/// checksums decides what comes next.
///
/// Cost: one round trip for each 4 MiB or 16 chunks.
class journal_walk {
 public:
  /// Bytes of one chunk.
  struct piece {
    std::uint64_t at;  ///< an offset in the journal
    std::string bytes;
  };

  /// @param f  must outlive this, as must `with`
  /// @param known  pieces already read, from `from` on, in order; may have gaps
  journal_walk(session& with, const filter_identity& f, std::uint32_t partition, const journal_position& from,
               const journal_position& to, std::vector<piece> known);

  /// @return the next record; nothing: `to` is reached, or the journal does not lead from here to there
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

  session& with_;
  const filter_identity& of_;
  const std::uint32_t partition_;
  const journal_position to_;
  journal_position position_;
  std::uint64_t record_bytes_ = 0;
  std::uint64_t at_;         // where unread() begins
  std::string text_{};       // without a gap
  std::size_t read_ = 0;     // bytes of it
  std::deque<piece> ahead_;  // read as well
};

}  // namespace everseen::redis
