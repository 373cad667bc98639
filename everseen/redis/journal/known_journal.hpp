#pragma once

#include <cstdint>
#include <deque>

#include "everseen/redis/journal/journal_position.hpp"

namespace everseen::redis {

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
