#include "everseen/redis/journal/journal_walk.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/redis/keyspace/asking.hpp"

namespace everseen::redis {

namespace {

constexpr std::uint64_t bytes_at_once = journal_chunk_bytes;
/// Chunks may hold one long record each; one round trip then reads this many of them.
constexpr std::uint64_t most_chunks_at_once = 16;

std::uint64_t chunk_of(std::uint64_t offset) noexcept {
  return offset / journal_chunk_bytes;
}

}  // namespace

journal_walk::journal_walk(server_connections& connections, const filter_identity& f, std::uint32_t partition,
                           const journal_position& from, const journal_position& end,
                           std::vector<piece> known)
    : connections_(connections),
      filter_(f),
      partition_(partition),
      goal_(end),
      position_(from),
      unread_at_(from.offset),
      ahead_(std::make_move_iterator(known.begin()), std::make_move_iterator(known.end())) {}

std::optional<journal_record> journal_walk::next() {
  while (position_.offset < goal_.offset) {
    if (goes_on_in_next_chunk()) step_to_next_chunk();
    journal_reader reader(unread());
    std::optional<journal_record> record;
    try {
      record = reader.next();
    } catch (const format_error&) {
      break;
    }
    if (!record) {
      if (!read_more()) break;
      continue;
    }
    const bool is_of_its_kind = !record->pieces.empty() || record->short_keys == is_short(filter_.spec.hash);
    if (record->previous != position_.checksum || !is_of_its_kind) break;
    record_bytes_ = unread().size() - reader.rest();
    read_ += record_bytes_;
    unread_at_ += record_bytes_;
    position_ = {unread_at_, reader.last_checksum()};
    return record;
  }
  return std::nullopt;
}

bool journal_walk::goes_on_in_next_chunk() const noexcept {
  return unread_at_ % journal_chunk_bytes != 0 && unread().starts_with(next_chunk_mark);
}

/// The rest of this chunk was left by a server that was killed.
void journal_walk::step_to_next_chunk() {
  unread_at_ = (chunk_of(unread_at_) + 1) * journal_chunk_bytes;
  text_.clear();
  read_ = 0;
}

/// @return false  there is no more
bool journal_walk::read_more() {
  text_.erase(0, std::exchange(read_, 0));
  const std::uint64_t from = unread_at_ + text_.size();
  while (!ahead_.empty() && ahead_.front().offset < from) ahead_.pop_front();
  if (ahead_.empty() || ahead_.front().offset != from) ask_from(from);
  if (ahead_.empty() || ahead_.front().offset != from || ahead_.front().bytes.empty()) return false;
  if (text_.empty())
    text_ = std::move(ahead_.front().bytes);
  else
    text_ += ahead_.front().bytes;
  ahead_.pop_front();
  return true;
}

/// Reads from there: one chunk if something after it is known, else as much as fits one round trip. Bytes
/// after the end are undefined and not requested.
void journal_walk::ask_from(std::uint64_t from) {
  if (from >= goal_.offset) return;
  const std::uint64_t first = chunk_of(from);
  const std::uint64_t last =
      ahead_.empty() ? std::min(chunk_of(goal_.offset - 1), first + most_chunks_at_once - 1) : first;
  const std::uint64_t most_of_each = bytes_at_once / (last - first + 1);
  std::vector<string_range> ranges;
  for (std::uint64_t chunk = first; chunk <= last; ++chunk) {
    const std::uint64_t begin = std::max(from, chunk * journal_chunk_bytes);
    const std::uint64_t end =
        std::min({begin + most_of_each, (chunk + 1) * journal_chunk_bytes, goal_.offset});
    const std::uint64_t chunk_begins = chunk * journal_chunk_bytes;
    ranges.push_back(
        {{filter_.keys.chunk(partition_, chunk), partition_}, begin - chunk_begins, end - chunk_begins});
  }
  std::vector<std::string> read = read_ranges(connections_, ranges);
  std::vector<piece> pieces;
  for (std::size_t i = 0; i < read.size(); ++i)
    pieces.push_back({(first + i) * journal_chunk_bytes + ranges[i].begin, std::move(read[i])});
  ahead_.insert(ahead_.begin(), std::make_move_iterator(pieces.begin()),
                std::make_move_iterator(pieces.end()));
}

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

std::string to_text(const journal_position& p) {
  return std::to_string(p.offset) + ":" + hex_of(p.checksum);
}

std::optional<journal_position> parse_journal_position(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto offset = read_number(text.substr(0, colon));
  const auto checksum = read_number(text.substr(colon + 1), 16);
  if (!offset || !checksum) return std::nullopt;
  const journal_position p{*offset, *checksum};
  return to_text(p) == text ? std::optional(p) : std::nullopt;
}

}  // namespace everseen::redis
