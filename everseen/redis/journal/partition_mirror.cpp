#include "everseen/redis/journal/partition_mirror.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/format/partition_keys.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/journal/journal_walk.hpp"
#include "everseen/redis/journal/stored_checkpoint.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

/// Attempts while other clients move the checkpoint, which happens once in many megabytes.
constexpr int most_reading_attempts = 100;
}  // namespace

partition_mirror::partition_mirror(const filter_identity& of, std::uint32_t number, mirror_memory& place)
    : of_(of), number_(number), place_(place), writer_(random_name()) {}

format_error partition_mirror::damaged(const std::string& what) const {
  return damaged_key(of_.keys.state(number_), what);
}

void partition_mirror::clear() {
  place_.drop_before(number_, std::numeric_limits<window::slice_index>::max());
  logic_.reset();
  successor_.reset();
}

void partition_mirror::load(session& with) {
  for (int attempt = 0; attempt < most_reading_attempts; ++attempt) {
    clear();
    const auto asked = clock::now();
    const stored_checkpoint stored = read_checkpoint(with, of_, number_);
    // Loads bits before the journal: a segment may be newer than the checkpoint, and then holds keys of later
    // records.
    bool whole = false;
    try {
      whole = load_segments(with, stored) && replay(with, stored.end, {});
    } catch (...) {
      clear();
      throw;
    }
    if (whole) {
      note_asked(asked);
      return note_successor(stored.successor);
    }
    // Something differed from the state: either the state has changed meanwhile, or it is damage.
    clear();
    if (read_checkpoint(with, of_, number_).begin == stored.begin)
      throw damaged("has an incomplete checkpoint or journal");
  }
  throw backend_error("other clients change " + of_.keys.state(number_) +
                      " faster than this one can read it; try again when they add fewer keys");
}

/// @return false  a segment is missing or has another length
bool partition_mirror::load_segments(session& with, const stored_checkpoint& stored) {
  for (const slice_state& slice : stored.state.slices)
    for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer) {
      const segment_id id = {number_, slice.index, layer};
      const layer_state& l = slice.layers[layer];
      place_.create(id, l.shape, l.capacity);
      place_.expect_keys(id, l.keys);
      if (!read_segment(with, of_, id, {place_.at(id), l.shape.bytes})) return false;
    }
  logic_ = std::make_unique<partition>(of_.spec, number_, place_, stored.state);
  journal_.start_at(stored.begin);
  return true;
}

/// A partly applied record leaves the mirror useless.
void partition_mirror::apply(const journal_record& r) {
  try {
    logic_->apply(r);
  } catch (...) {
    clear();
    throw;
  }
}

void partition_mirror::move_begin(const journal_position& p) {
  if (p != journal_.begin()) no_checkpoint_before_ = 0;
  journal_.move_begin(p);
}

/// Applies the records up to `end`.
/// @param known  bytes of the journal after position() that were already read
/// @return false  the journal does not lead from here to there
bool partition_mirror::replay(session& with, const journal_position& end, pieces known) {
  journal_walk walk(with, of_, number_, position(), end, std::move(known));
  while (const auto record = walk.next()) {
    try {
      apply(*record);
    } catch (const format_error&) {
      return false;
    }
    journal_.go_on_to(walk.position(), walk.record_bytes());
  }
  return position() == end;
}

/// A filter without a state is gone, and one whose state is damaged needs to be restored. Nothing is answered
/// from a mirror of either: others might be told `seen` of keys that are nowhere any more.
stored_checkpoint partition_mirror::checkpoint_now(session& with) {
  try {
    return read_checkpoint(with, of_, number_);
  } catch (const backend_error&) {
    throw;
  } catch (const error&) {
    clear();
    throw;
  }
}

void partition_mirror::require_unsealed() const {
  if (successor_) throw filter_is_sealed(of_, *successor_, place().key);
}

void partition_mirror::read_on(session& with) {
  const auto asked = clock::now();
  const stored_checkpoint now = checkpoint_now(with);
  follow(with, now.begin, now.end, {});
  note_asked(asked);
  note_successor(now.successor);
}

void partition_mirror::read_on(session& with, const reply& refusal, std::span<const reply> behind,
                               clock::time_point asked) {
  others_add_ = true;
  const auto end = parse_journal_position(refusal[1].text());
  const auto begin = parse_journal_position(refusal[2].text());
  if (!end || !begin) throw damaged("does not say where its journal ends");
  pieces known;
  std::uint64_t at = position().offset;
  for (const reply& piece : behind) {
    const std::string_view bytes = piece.is_error() ? std::string_view() : piece.text();
    // Others may have added more since the script returned the end, and after a long record there is a mark
    // for the next one.
    if (!bytes.empty() && at < end->offset)
      known.push_back({at, std::string(bytes.substr(0, end->offset - at))});
    at = begin_of_next_chunk(at);
  }
  follow(with, *begin, *end, std::move(known));
  note_asked(asked);
}

void partition_mirror::follow(session& with, const journal_position& begin, const journal_position& end,
                              pieces known) {
  move_begin(begin);
  if (begin.offset <= position().offset && replay(with, end, std::move(known))) return;
  const std::uint64_t had = position().offset;
  load(with);
  // If another client has moved the checkpoint past this mirror meanwhile, nothing is missing.
  if (journal_.begin().offset <= had)
    throw lost_history(
        "the server of " + of_.keys.state(number_) + " has another journal than the one it had (" +
        std::to_string(had) + " bytes were acknowledged, " + std::to_string(position().offset) +
        " are there): it came back without everything that it had acknowledged, and keys of that time "
        "may be called fresh again. The remaining keys are used from now on");
}

void partition_mirror::accept(clock::time_point asked) {
  if (record_) apply(*std::exchange(record_, {}));
  journal_.go_on_to(behind_record_, record_length_);
  attempts_ = 0;
  note_asked(asked);
}

void partition_mirror::note_unchanged(clock::time_point asked) {
  others_add_ = false;
  note_asked(asked);
}

tally partition_mirror::check(const partition_batch& batch) const {
  return logic_->check(batch);
}

bool partition_mirror::wants_checkpoint() const noexcept {
  constexpr std::uint64_t least = std::uint64_t{1} << 20;
  return logic_ && journal_.bytes() >= no_checkpoint_before_ &&
         journal_.bytes() > std::max(least, logic_->state().bytes());
}

}  // namespace everseen::redis
