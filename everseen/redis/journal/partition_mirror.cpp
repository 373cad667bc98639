#include "everseen/redis/journal/partition_mirror.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/redis_keys.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/journal/journal_walk.hpp"
#include "everseen/redis/journal/lease_times.hpp"
#include "everseen/redis/journal/stored_checkpoint.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

/// Attempts while other clients move the checkpoint, which happens once in many megabytes.
constexpr int most_reading_attempts = 100;
}  // namespace

partition_mirror::partition_mirror(const filter_identity& identity, std::uint32_t number,
                                   mirror_memory& place, bool waits_for_replicas)
    : filter_(identity),
      number_(number),
      place_(place),
      waits_for_replicas_(waits_for_replicas),
      writer_(random_name()) {}

format_error partition_mirror::damaged(const std::string& problem) const {
  return damaged_key(filter_.keys.state(number_), problem);
}

void partition_mirror::clear() {
  place_.drop_before(number_, std::numeric_limits<window::slice_index>::max());
  logic_.reset();
  successor_.reset();
  merged_.clear();
}

void partition_mirror::load(server_connections& connections) {
  for (int attempt = 0; attempt < most_reading_attempts; ++attempt) {
    clear();
    leads_replicas_ = waits_for_replicas_;
    const auto asked = clock::now();
    const stored_checkpoint stored = read_checkpoint(connections, filter_, number_);
    // Loads bits before the journal: a segment may be newer than the checkpoint, and then holds keys of later
    // records.
    bool whole = false;
    try {
      whole = load_segments(connections, stored) && replay(connections, stored.end, {});
    } catch (...) {
      clear();
      throw;
    }
    if (whole) {
      note_asked(asked);
      return note_successor(stored.successor);
    }
    // Something differed from the state: either the state has changed meanwhile, or it is damage. A server
    // that came back, or took over, may have lost the end of the journal.
    clear();
    const stored_checkpoint current = read_checkpoint(connections, filter_, number_);
    if (current.begin == stored.begin && current.end.offset >= stored.end.offset)
      throw damaged("has an incomplete checkpoint or journal");
  }
  throw backend_error("other clients change " + filter_.keys.state(number_) +
                      " faster than this one can read it; try again when they add fewer keys");
}

/// @return false  a segment is missing or has another length
bool partition_mirror::load_segments(server_connections& connections, const stored_checkpoint& stored) {
  for (const slice_state& slice : stored.state.slices)
    for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer) {
      const segment_id id = {number_, slice.index, layer};
      const layer_state& l = slice.layers[layer];
      place_.create(id, l.shape, l.capacity);
      place_.expect_keys(id, l.keys);
      if (!read_segment(connections, filter_, id, {place_.at(id), l.shape.bytes})) return false;
    }
  logic_ = std::make_unique<partition>(filter_.spec, number_, place_, stored.state);
  journal_.start_at(stored.begin);
  return true;
}

/// A partly applied record leaves the mirror useless.
void partition_mirror::apply(const journal_record& r) {
  try {
    logic_->apply(r);
    for (const journal_record::piece& p : r.pieces) merged_.insert({number_, p.slice, p.layer});
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
bool partition_mirror::replay(server_connections& connections, const journal_position& end, pieces known) {
  journal_walk walk(connections, filter_, number_, position(), end, std::move(known));
  while (const auto record = walk.next()) {
    leads_replicas_ = waits_for_replicas_;
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
stored_checkpoint partition_mirror::checkpoint_now(server_connections& connections) {
  try {
    return read_checkpoint(connections, filter_, number_);
  } catch (const backend_error&) {
    throw;
  } catch (const error&) {
    clear();
    throw;
  }
}

void partition_mirror::require_unsealed() const {
  if (successor_) throw filter_is_sealed(filter_, *successor_, place().key);
}

void partition_mirror::read_on(server_connections& connections) {
  const auto asked = clock::now();
  const stored_checkpoint checkpoint = checkpoint_now(connections);
  follow(connections, checkpoint.begin, checkpoint.end, {});
  note_asked(asked);
  note_successor(checkpoint.successor);
}

void partition_mirror::read_on(server_connections& connections, const reply& refusal,
                               std::span<const reply> behind, clock::time_point asked) {
  others_add_ = true;
  const auto end = parse_journal_position(refusal[1].text());
  const auto begin = parse_journal_position(refusal[2].text());
  if (!end || !begin) throw damaged("does not say where its journal ends");
  pieces known;
  std::uint64_t offset = position().offset;
  for (const reply& piece : behind) {
    const std::string_view bytes = piece.is_error() ? std::string_view() : piece.text();
    // Others may have added more since the script returned the end, and after a long record there is a mark
    // for the next one.
    if (!bytes.empty() && offset < end->offset)
      known.push_back({offset, std::string(bytes.substr(0, end->offset - offset))});
    offset = begin_of_next_chunk(offset);
  }
  follow(connections, *begin, *end, std::move(known));
  note_asked(asked);
}

void partition_mirror::follow(server_connections& connections, const journal_position& begin,
                              const journal_position& end, pieces known) {
  move_begin(begin);
  if (begin.offset <= position().offset && replay(connections, end, std::move(known))) return;
  const std::uint64_t had = position().offset;
  load(connections);
  // If another client has moved the checkpoint past this mirror meanwhile, nothing is missing.
  if (journal_.begin().offset <= had)
    throw lost_history(
        "the server of " + filter_.keys.state(number_) + " has another journal than the one it had (" +
        std::to_string(had) + " bytes were acknowledged, " + std::to_string(position().offset) +
        " are there): it came back without everything that it had acknowledged, and keys of that time "
        "may be called fresh again. The remaining keys are used from now on");
}

void partition_mirror::accept(clock::time_point asked) {
  if (record_) apply(*std::exchange(record_, {}));
  journal_.go_on_to(behind_record_, record_length_);
  attempts_ = 0;
  leads_replicas_ = false;
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

void mirror_memory::require_room(std::uint64_t bytes) const {
  if (bytes_ + bytes <= most_bytes_) return;
  throw storage_error(
      "the clients of this filter judge it, and its bits take more than the " +
          std::to_string(most_bytes_ >> 10) +
          " KiB that a client may use for them; raise mirror= in the URL of the store, or create "
          "a filter that its servers judge",
      0, {});
}

void mirror_memory::create(const segment_id& id, const geometry& shape, std::uint64_t capacity) {
  require_room(shape.bytes);
  bytes_ += shape.bytes;
  try {
    memory_segments::create(id, shape, capacity);
  } catch (...) {
    bytes_ -= shape.bytes;
    throw;
  }
}

void mirror_memory::drop_before(std::uint32_t partition, window::slice_index oldest) {
  const std::uint64_t before = bytes_of(partition);
  memory_segments::drop_before(partition, oldest);
  bytes_ -= before - bytes_of(partition);
}

namespace {

/// Up to this much of other clients' records is read with a call, from each of two chunks. A longer reply
/// might never arrive whole.
constexpr std::uint64_t read_with_call = piece_bytes;
/// After this many refusals, a client asks for the append lease.
constexpr int refusals_before_a_lease = 4;
/// Much longer than a server takes from one command of a request to the next.
constexpr std::string_view record_life_ms = "60000";

static_assert(max_journal_record_bytes <= journal_chunk_bytes, "one lies in a chunk of its own");

}  // namespace

prediction partition_mirror::prepare(const partition_batch& batch, predictor::no_room then) {
  EVERSEEN_ASSERT(batch.digests.size() <= max_journal_record_keys);
  prediction all = predictor_.predict(*logic_, filter_.spec, batch, then, partition_keys::max_segment_bytes);
  journal_record r = record_of(all, logic_->state(), filter_.spec, batch);
  r.previous = position().checksum;
  forget_record();
  if (r.keys.empty() && !all.moves_to) return all;
  put_together(std::move(r), all.new_bytes);
  return all;
}

void partition_mirror::prepare_move(window::slice_index newest) {
  forget_record();
  const auto& slices = logic_->state().slices;
  if (!slices.empty() && slices.back().index >= newest) return;
  put_together({.previous = position().checksum, .newest = newest, .short_keys = is_short(filter_.spec.hash)},
               growth::plan_layer(filter_.spec, 0).shape.bytes);
}

void partition_mirror::prepare_merge(std::span<const sibling_segment> siblings, bool begins,
                                     std::size_t most) {
  forget_record();
  if (begins) logic_->must_fit(siblings);
  journal_record r = logic_->next_merge(siblings, most);
  if (r.pieces.empty()) return;
  r.previous = position().checksum;
  std::map<segment_id, std::uint64_t> made;
  for (const journal_record::piece& p : r.pieces)
    made[{number_, p.slice, p.layer}] = growth::plan_layer(filter_.spec, p.layer).shape.bytes;
  for (const announced_filter::segment& s : segments_of(number_, logic_->state().slices)) made.erase(s.id);
  std::uint64_t new_bytes = 0;
  for (const auto& [id, bytes] : made) new_bytes += bytes;
  put_together(std::move(r), new_bytes);
}

void partition_mirror::forget_record() {
  record_.reset();
  record_length_ = 0;
  record_wire_.clear();
  behind_record_ = position();
}

/// @param new_bytes  the memory needed to apply the record
void partition_mirror::put_together(journal_record r, std::uint64_t new_bytes) {
  // Checked before it is in the journal: a record that cannot be applied here must not be added.
  place_.require_room(new_bytes);
  record_ = std::move(r);
  record_length_ = record_bytes(*record_);
  behind_record_.offset = begin_of_record(position().offset, record_length_) + record_length_;
  if (is_long())
    stage();
  else
    behind_record_.checksum = append_record(record_wire_, *record_);
}

std::size_t partition_mirror::short_record_keys() const noexcept {
  journal_record one{.groups = {{}}, .keys = {{}}, .short_keys = is_short(filter_.spec.hash)};
  const std::size_t first = record_bytes(one);
  one.keys.emplace_back();
  if (filter_.spec.window) one.groups.emplace_back();
  return (long_record_bytes - 1 - first) / (record_bytes(one) - first) + 1;
}

std::string partition_mirror::key_of_record() const {
  return filter_.keys.staged(number_, writer_, calls_);
}

/// Reserves space for the mark that the next long record needs after this one; otherwise the server would
/// have to move the whole string then.
void partition_mirror::stage() {
  constexpr std::size_t around_the_record = 256;
  ++calls_;
  record_wire_.reserve(record_length_ + around_the_record);
  begin_command(record_wire_, 5);
  append_word(record_wire_, "SET");
  append_word(record_wire_, key_of_record());
  begin_word(record_wire_, record_length_ + 1);
  begin_of_staged_ = record_wire_.size();
  behind_record_.checksum = append_record(record_wire_, *record_);
  record_wire_ += next_chunk_mark;
  end_word(record_wire_);
  append_word(record_wire_, "PX");
  append_word(record_wire_, record_life_ms);
}

script_call partition_mirror::append_call() {
  if (!is_long()) ++calls_;
  script_call call{
      &journal_scripts::append(),
      place(),
      {filter_.keys.state(number_), filter_.keys.chunk(number_, position().offset / journal_chunk_bytes)},
      {to_text(position()), to_text(behind_record_), "w:" + writer_, std::to_string(calls_),
       std::to_string(position().offset % journal_chunk_bytes), "", "",
       ++attempts_ <= refusals_before_a_lease ? "" : std::to_string(append_lease_ms), ""}};
  call.on_replicas = true;
  call.repeatable = repetition(calls_kept);
  if (is_long())
    adopt_staged(call);
  else
    put_in_place(call);
  return call;
}

script_call partition_mirror::replication_call() {
  forget_record();
  return append_call();
}

/// Also reads what other clients have added, after the script has returned the end of the journal.
script_call partition_mirror::compare_call() {
  ++calls_;
  script_call call{&journal_scripts::append(),
                   place(),
                   {filter_.keys.state(number_)},
                   {to_text(position()), "", "w:" + writer_, std::to_string(calls_), "", "", "", "", ""}};
  std::uint64_t from = position().offset;
  while (call.commands_after < commands_after_compare) {
    const std::uint64_t in_chunk = from % journal_chunk_bytes;
    call.after += encode({"GETRANGE", filter_.keys.chunk(number_, from / journal_chunk_bytes),
                          std::to_string(in_chunk), std::to_string(in_chunk + read_with_call - 1)});
    ++call.commands_after;
    from = begin_of_next_chunk(from);
  }
  return call;
}

void partition_mirror::put_in_place(script_call& append) {
  const std::uint64_t left = journal_chunk_bytes - position().offset % journal_chunk_bytes;
  append.arguments[5] = record_wire_.substr(0, left);
  if (record_wire_.size() <= left) return;
  append.arguments[6] = record_wire_.substr(left);
  append.keys.push_back(filter_.keys.chunk(number_, position().offset / journal_chunk_bytes + 1));
}

void partition_mirror::adopt_staged(script_call& append) {
  const std::uint64_t begin = behind_record_.offset - record_length_;
  append.staged = {key_of_record(), std::move(record_wire_), begin_of_staged_, record_length_ + 1};
  append.arguments[8] = std::to_string(record_length_ + 1);
  append.keys.push_back(append.staged.key);
  append.keys.push_back(filter_.keys.chunk(number_, begin / journal_chunk_bytes));
}

}  // namespace everseen::redis
