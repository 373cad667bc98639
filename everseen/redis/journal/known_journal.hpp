#pragma once

#include <cstdint>
#include <deque>

#include "everseen/redis/journal/journal_position.hpp"

namespace everseen::redis {

/// The part of a journal that a mirror knows of: where it begins, up to where the mirror has it, and how much
/// lies between.
///
/// Offsets do not tell how much: behind the last record of a chunk there may be a gap up to the next chunk.
/// Threads: one at a time.
class known_journal {
 public:
  [[nodiscard]] const journal_position& begin() const noexcept { return begin_; }
  [[nodiscard]] const journal_position& end() const noexcept { return end_; }
  /// Of the records between the two.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return end_.offset > begin_.offset ? end_.offset - begin_.offset - in_gaps_ : 0;
  }

  /// Forgets everything: nothing is known but where it begins.
  void start_at(const journal_position& p);
  /// A checkpoint has moved; maybe beyond the end, up to which the records are then still to come.
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
