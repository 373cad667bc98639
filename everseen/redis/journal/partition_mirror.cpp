#include "everseen/redis/journal/partition_mirror.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/redis_keys.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/journal/journal_walk.hpp"
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
                                   mirror_memory& place)
    : filter_(identity), number_(number), place_(place), writer_(random_name()) {}

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
    // Something differed from the state: either the state has changed meanwhile, or it is damage.
    clear();
    if (read_checkpoint(connections, filter_, number_).begin == stored.begin)
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
/// After this many refusals, a client asks for the append lease, which is long enough for a round trip to
/// another continent.
constexpr int refusals_before_a_lease = 4;
constexpr std::string_view lease_ms = "1000";
/// Much longer than a server takes from one command of a request to the next.
constexpr std::string_view staged_ms = "60000";

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

std::string partition_mirror::staged_key() const {
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
  append_word(record_wire_, staged_key());
  begin_word(record_wire_, record_length_ + 1);
  begin_of_staged_ = record_wire_.size();
  behind_record_.checksum = append_record(record_wire_, *record_);
  record_wire_ += next_chunk_mark;
  end_word(record_wire_);
  append_word(record_wire_, "PX");
  append_word(record_wire_, staged_ms);
}

/// The end of a checkpoint forgets the calls of clients that have been silent for longer. An append that is
/// sent again later would find its own record, as if another client had added the keys.
constexpr std::chrono::seconds calls_kept = std::chrono::hours(24);

script_call partition_mirror::append_call() {
  if (!is_long()) ++calls_;
  script_call call{
      &journal_scripts::append(),
      place(),
      {filter_.keys.state(number_), filter_.keys.chunk(number_, position().offset / journal_chunk_bytes)},
      {to_text(position()), to_text(behind_record_), "w:" + writer_, std::to_string(calls_),
       std::to_string(position().offset % journal_chunk_bytes), "", "",
       std::string(++attempts_ <= refusals_before_a_lease ? "" : lease_ms), ""}};
  call.on_replicas = true;
  call.repeatable = repetition(calls_kept);
  if (is_long())
    adopt_staged(call);
  else
    put_in_place(call);
  return call;
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
  append.staged = {staged_key(), std::move(record_wire_), begin_of_staged_, record_length_ + 1};
  append.arguments[8] = std::to_string(record_length_ + 1);
  append.keys.push_back(append.staged.key);
  append.keys.push_back(filter_.keys.chunk(number_, begin / journal_chunk_bytes));
}

// How a mirror moves the checkpoint on the server to its own position.
//
// One client at a time does so, under a lease that every step names by its random token. It writes each
// changed segment to a staged key, bypassing scripts, which would hash every byte. A script then renames the
// staged key to the segment, if the lease is still valid. After the lease has expired, another client may
// take over, and later steps of this one are refused. The segments that it has already replaced do no harm:
// their additional bits are in the journal as well, and nothing counts before the one command that moves the
// beginning of the journal.

namespace {

constexpr std::uint64_t written_page_bytes = piece_bytes;
constexpr std::size_t written_pages_at_once = 256;
/// The time for one segment, so that a client that hangs is soon replaced; and more for each MiB.
constexpr std::uint64_t least_life_ms = 30'000;
constexpr std::uint64_t life_ms_a_mib = 1'000;
/// Attempts while other clients keep adding. The next client that adds tries as well.
constexpr int most_beginnings = 3;

bool is_zero(std::string_view page) noexcept {
  return page.find_first_not_of('\0') == std::string_view::npos;
}

/// The word before the n-th segment: each step then happens once, however often its command arrives.
std::string step(const std::string& word, std::uint64_t n) {
  return word + "." + std::to_string(n);
}

std::string life_ms(const partition_state& s) {
  std::uint64_t longest = 0;
  for (const announced_filter::segment& each : segments_of(0, s.slices))
    longest = std::max<std::uint64_t>(longest, each.layer.shape.bytes);
  return std::to_string(least_life_ms + life_ms_a_mib * (longest >> 20));
}

/// A page of a staged key. The first page to arrive creates the key with a time limit, so pages may arrive in
/// any order, repeatedly or late, and leave nothing behind for good.
request page_of(const route& destination, const std::string& staged, std::uint64_t from,
                std::string_view page, const std::string& life_ms) {
  request r{destination, {}, 2, true};
  constexpr std::size_t around_the_page = 512;
  r.wire.reserve(page.size() + around_the_page);
  r.wire = encode({"SET", staged, "", "PX", life_ms, "NX"});
  append_command(r.wire, std::array<std::string_view, 4>{"SETRANGE", staged, std::to_string(from), page});
  return r;
}

/// The list of all segments that a checkpoint may create, including those left by abandoned ones, so that any
/// client can find and remove them.
std::string list_of(const filter_identity& identity, std::uint32_t number, const partition_state& own,
                    std::string_view abandoned) {
  std::string list = encode_manifest(identity, number, own);
  if (abandoned.empty()) return list;
  image::manifest all = decode_manifest(identity, number, list);
  for (const image::manifest::entry& left : decode_manifest(identity, number, abandoned).segments)
    if (std::ranges::find(all.segments, left.id, &image::manifest::entry::id) == all.segments.end())
      all.segments.push_back(left);
  std::ranges::sort(all.segments, {}, &image::manifest::entry::id);
  const auto bytes = image::encode_manifest(all);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

/// @return the checkpoint to be replaced; nothing: another client has the lease
std::optional<stored_checkpoint> partition_mirror::begin_checkpoint(server_connections& connections,
                                                                    const std::string& word) {
  std::string abandoned;
  for (int attempt = 0; attempt < most_beginnings; ++attempt) {
    const reply begun =
        run_script(connections,
                   {&journal_scripts::begin_checkpoint(),
                    place(),
                    {filter_.keys.state(number_)},
                    {to_text(journal_.begin()), to_text(position()), step(word, 0), life_ms(logic_->state()),
                     list_of(filter_, number_, logic_->state(), abandoned), abandoned}});
    const std::string_view message = begun[0].text();
    if (message == "K")
      return stored_checkpoint{decode_checkpoint(filter_, number_, begun[1].text(), begun[2].text()),
                               journal_.begin(), position(), decode_segments(filter_, number_, abandoned)};
    if (message == "A") {
      abandoned = begun[1].text();
      continue;
    }
    if (message == "S")
      if (const auto moved = parse_journal_position(begun[1].text())) move_begin(*moved);
    if (message != "E") break;  // the next batch finds out why there is no state
    read_on(connections);
    if (!wants_checkpoint()) break;
  }
  return std::nullopt;
}

void partition_mirror::write_checkpoint(server_connections& connections) {
  const std::string word = random_name();
  const auto before = begin_checkpoint(connections, word);
  if (!before) return;
  const std::string life = life_ms(logic_->state());
  std::uint64_t written = 0;
  std::map<segment_id, std::uint64_t> stored;
  for (const announced_filter::segment& s : segments_of(number_, before->state.slices))
    stored[s.id] = s.layer.keys;
  for (const announced_filter::segment& s : segments_of(number_, logic_->state().slices)) {
    const auto there = stored.find(s.id);
    if (there != stored.end() && there->second == s.layer.keys && !merged_.contains(s.id)) continue;
    if (!write_segment(connections, word, s.id, s.layer.shape.bytes, life, written++)) return;
  }

  script_call commit{
      &journal_scripts::commit_checkpoint(),
      place(),
      {filter_.keys.state(number_)},
      {step(word, written), to_text(position()), encode_manifest(filter_, number_, logic_->state()),
       encode_counts(logic_->state()), std::string(std::to_string(calls_kept.count()))}};
  for (std::uint64_t chunk = journal_.begin().offset / journal_chunk_bytes;
       chunk < position().offset / journal_chunk_bytes; ++chunk)
    commit.keys.push_back(filter_.keys.chunk(number_, chunk));
  std::set<segment_id> left;
  for (const auto& [id, keys] : stored) left.insert(id);
  left.insert(before->being_written.begin(), before->being_written.end());
  for (const announced_filter::segment& s : segments_of(number_, logic_->state().slices)) left.erase(s.id);
  for (const segment_id& id : left) commit.keys.push_back(filter_.keys.segment(id));
  if (run_script(connections, std::move(commit))[0].text() != "K") return;
  move_begin(position());
  merged_.clear();
}

/// @param number  of the segment in this checkpoint: a late copy of a page must not reach another segment's
///   key
/// @return false  another client has taken over
bool partition_mirror::write_segment(server_connections& connections, const std::string& word,
                                     const segment_id& id, std::uint64_t bytes, const std::string& life_ms,
                                     std::uint64_t number) {
  const std::string_view bits(reinterpret_cast<const char*>(place_.at(id)), bytes);
  const std::string key = filter_.keys.segment(id);
  const std::string staged = filter_.keys.staged(number_, word, number);
  std::vector<request> pages;
  // The last page always comes first: it gives the string its length, so the server allocates its memory
  // once.
  for (std::uint64_t end = bytes; end > 0;) {
    const std::uint64_t from = (end - 1) / written_page_bytes * written_page_bytes;
    const std::string_view page = bits.substr(from, end - from);
    if (end == bytes || !is_zero(page)) pages.push_back(page_of(place(), staged, from, page, life_ms));
    end = from;
    if (pages.size() == written_pages_at_once || end == 0)
      (void)exchange_all(connections, std::exchange(pages, {}));
  }
  const auto answers = run_scripts(
      connections, {{&journal_scripts::place_segment(),
                     place(),
                     {filter_.keys.state(number_), staged, key},
                     {step(word, number), step(word, number + 1), std::to_string(bytes), life_ms}}});
  const std::string_view message = expect_reply(answers.front(), key)[0].text();
  if (message == "U") refuse_lack(answers.front(), key);
  return message == "K";
}

}  // namespace everseen::redis
