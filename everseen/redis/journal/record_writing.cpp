#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/format/partition_keys.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/journal/partition_mirror.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

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
  prediction all = predictor_.predict(*logic_, of_.spec, batch, then, partition_keys::max_segment_bytes);
  journal_record r = record_of(all, logic_->state(), of_.spec, batch);
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
  put_together({.previous = position().checksum, .newest = newest, .short_keys = is_short(of_.spec.hash)},
               growth::plan_layer(of_.spec, 0).shape.bytes);
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
  journal_record one{.groups = {{}}, .keys = {{}}, .short_keys = is_short(of_.spec.hash)};
  const std::size_t first = record_bytes(one);
  one.keys.emplace_back();
  if (of_.spec.window) one.groups.emplace_back();
  return (long_record_bytes - 1 - first) / (record_bytes(one) - first) + 1;
}

std::string partition_mirror::staged_key() const {
  return of_.keys.staged(number_, writer_, calls_);
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

script_call partition_mirror::append_call() {
  if (!is_long()) ++calls_;
  script_call call{
      &journal_scripts::append(),
      place(),
      {of_.keys.state(number_), of_.keys.chunk(number_, position().offset / journal_chunk_bytes)},
      {to_text(position()), to_text(behind_record_), "w:" + writer_, std::to_string(calls_),
       std::to_string(position().offset % journal_chunk_bytes), "", "",
       std::string(++attempts_ <= refusals_before_a_lease ? "" : lease_ms), ""}};
  call.on_replicas = true;
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
                   {of_.keys.state(number_)},
                   {to_text(position()), "", "w:" + writer_, std::to_string(calls_), "", "", "", "", ""}};
  std::uint64_t from = position().offset;
  while (call.commands_after < commands_after_compare) {
    const std::uint64_t in_chunk = from % journal_chunk_bytes;
    call.after += encode({"GETRANGE", of_.keys.chunk(number_, from / journal_chunk_bytes),
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
  append.keys.push_back(of_.keys.chunk(number_, position().offset / journal_chunk_bytes + 1));
}

void partition_mirror::adopt_staged(script_call& append) {
  const std::uint64_t begin = behind_record_.offset - record_length_;
  append.staged = {staged_key(), std::move(record_wire_), begin_of_staged_, record_length_ + 1};
  append.arguments[8] = std::to_string(record_length_ + 1);
  append.keys.push_back(append.staged.key);
  append.keys.push_back(of_.keys.chunk(number_, begin / journal_chunk_bytes));
}

}  // namespace everseen::redis
