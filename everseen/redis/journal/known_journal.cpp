#include "everseen/redis/journal/known_journal.hpp"

#include "everseen/core/base/assert.hpp"

namespace everseen::redis {

void known_journal::start_at(const journal_position& p) {
  begin_ = end_ = p;
  gaps_.clear();
  in_gaps_ = 0;
}

void known_journal::move_begin(const journal_position& p) {
  begin_ = p;
  for (; !gaps_.empty() && gaps_.front().end <= p.offset; gaps_.pop_front()) in_gaps_ -= gaps_.front().bytes;
}

void known_journal::go_on_to(const journal_position& p, std::uint64_t bytes) {
  EVERSEEN_ASSERT(p.offset >= end_.offset + bytes);
  const std::uint64_t begins_at = p.offset - bytes;
  if (begins_at > end_.offset && begins_at > begin_.offset) {
    gaps_.push_back({begins_at, begins_at - end_.offset});
    in_gaps_ += gaps_.back().bytes;
  }
  end_ = p;
}

}  // namespace everseen::redis
