#include "everseen/jobs/file/file_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <thread>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/dedup/record/record_ends.hpp"

namespace everseen {

namespace {

constexpr char blank = ' ';

/// The note of a checkpoint: a fingerprint of the input's beginning; and, if the checkpoint precedes a last
/// record without a separator, the end of that record.
struct note_parts {
  std::string_view beginning;
  std::uint64_t taken_to = 0;
};

note_parts parts_of(std::string_view note) {
  const std::size_t position = note.find(blank);
  if (position == std::string_view::npos) return {note};
  note_parts parts{note.substr(0, position)};
  std::from_chars(note.data() + position + 1, note.data() + note.size(), parts.taken_to);
  return parts;
}

}  // namespace

file_source::file_source(const std::string& path, options settings)
    : input_(path, settings.format.decompress), options_(std::move(settings)), lane_(options_.worker) {
  if (!lane_.empty()) lane_ += ':';
  lane_ += input_.name();
  if (options_.follow && input_.is_compressed())
    throw parameter_error(input_.name() + " is compressed, and so has an end; leave out --follow");
  if (!options_.format.header) return;
  header_ = input_.take_first(options_.format, options_.follow, options_.idle);
  position_ = input_.taken_bytes();
}

void file_source::begin(const std::map<std::string, checkpoint, std::less<>>& reached) {
  const auto found = reached.find(lane_);
  if (found != reached.end()) {
    const auto [beginning, taken_to] = parts_of(found->second.note);
    input_.begin(found->second.position, beginning);
    position_ = std::max(position_, found->second.position);
    taken_to_ = taken_to;
  }
  handed_out_to_ = began_at_ = position_;
}

source::state file_source::next(source_batch& into, std::chrono::milliseconds wait) {
  if (ended_) return state::ended;
  if (!input_.readable_within(wait)) return state::nothing_yet;
  if (input_.is_skipping()) {
    input_.skip_some();
    return state::nothing_yet;
  }
  const block text = read_block();
  if (text.size == carry_.size()) return end(into, wait);
  quiet_since_.reset();
  return cut(text, into);
}

/// The carried-over bytes and the next ones: up to a block, or more if the first record needs it.
file_source::block file_source::read_block() {
  const std::size_t room = options_.room_for(carry_.size());
  block text{std::make_shared_for_overwrite<char[]>(room + block_reader::padding), carry_.size()};
  std::copy(carry_.begin(), carry_.end(), text.bytes.get());
  while (text.size < room) {
    std::size_t got = 0;
    try {
      got = input_.read({text.bytes.get() + text.size, room - text.size});
    } catch (const format_error&) {  // it is thrown again, after the records before the damage
      if (text.size == carry_.size()) throw;
    }
    if (got == 0) break;
    end_the_last_one(text);
    text.size += got;
    if (!input_.readable_within(std::chrono::milliseconds(0))) break;
  }
  return text;
}

/// Settled input may end in a line without a newline. That is correct if only the newline has been added
/// since.
void file_source::end_the_last_one(const block& text) {
  if (text.size > 0 || position_ == 0 || position_ != began_at_) return;
  if (input_.byte_before() == options_.format.separator || unended_) return;
  unended_ = true;
  if (text.bytes[0] != options_.format.separator) refuse_another_last_line();
}

/// A record that was claimed and not settled gets the verdict of its position: it must be the same record.
void file_source::must_be_the_one_taken(const source_record& first) {
  if (taken_to_ != 0 && first.position == began_at_ && first.position + first.bytes.size() != taken_to_)
    refuse_another_last_line();
  taken_to_ = 0;
}

void file_source::refuse_another_last_line() const {
  throw parameter_error(
      "the last line of " + input_.name() +
      " had no newline when the job read it, and has changed since; give --follow for a file "
      "that is being written, and begin another job");
}

source::state file_source::cut(const block& text, source_batch& into) {
  const std::string_view all(text.bytes.get(), text.size);
  ends_.clear();
  find_record_ends(all, options_.format, ends_);
  into = {};
  if (ends_.empty()) {
    if (all.size() > block_reader::max_record_bytes)
      throw storage_error(
          input_.name() +
              " has a record of more than 3 GiB, the longest there may be; is the separator right?",
          EFBIG, input_.name());
    carry_ = all;
    return state::nothing_yet;
  }
  if (begins_) options_.on_first_block(all);
  into.lane = lane_;
  into.begins = begins_;
  into.memory = text.bytes;
  into.records.reserve(ends_.size());
  std::size_t from = 0;
  for (const std::uint32_t end : ends_) {
    into.records.push_back({all.substr(from, end - from), position_ + from});
    from = std::size_t{end} + 1;
  }
  if (unended_) {  // the first "record" is the end of the previous line
    into.records.erase(into.records.begin());
    unended_ = false;
  }
  if (!into.records.empty()) must_be_the_one_taken(into.records.front());
  position_ += from;
  carry_ = all.substr(from);
  begins_ = false;
  into.next = position_;
  handed_out_to_ = position_;
  records_ += into.records.size();
  return state::records;
}

source::state file_source::end(source_batch& into, std::chrono::milliseconds wait) {
  if (options_.follow) {
    must_go_on();
    std::this_thread::sleep_for(wait);  // a file at its end is always readable
    return state::nothing_yet;
  }
  ended_ = true;
  if (carry_.empty() && taken_to_ != 0) refuse_another_last_line();
  if (carry_.empty()) return state::ended;
  if (ends_in_quotes(carry_, options_.format))
    throw format_error(place_of(lane_, position_) +
                       " has a quotation mark that is not closed, or that CSV does not allow there");
  block last{std::make_shared_for_overwrite<char[]>(carry_.size() + 1 + block_reader::padding),
             carry_.size() + 1};
  std::copy(carry_.begin(), carry_.end(), last.bytes.get());
  last.bytes[carry_.size()] = options_.format.separator;
  const state got = cut(last, into);
  into.next = --position_;  // the separator is not in the file
  into.unended = true;
  handed_out_to_ = position_;
  return got;
}

/// Log rotation renames the file first; its writer switches to the new one later.
void file_source::must_go_on() {
  const auto current = std::chrono::steady_clock::now();
  if (input_.has_its_name()) {
    quiet_since_.reset();
  } else if (current - quiet_since_.value_or(current) >= options_.rotated_for && quiet_since_) {
    throw storage_error(
        "another file has the name " + input_.name() + " now; all lines of the old one are settled" +
            (carry_.empty()
                 ? std::string()
                 : ", but not the last, which has no end (" + std::to_string(carry_.size()) + " bytes)") +
            "; begin another --job, or another --worker, for the new one",
        0, input_.name());
  } else if (!quiet_since_) {
    quiet_since_ = current;
  }
}

checkpoint file_source::reached(const source_batch& batch) {
  return {batch.lane, batch.next, input_.note_at(batch.next)};
}

std::optional<checkpoint> file_source::known_before(const source_batch& batch) const {
  if (!batch.unended) return {};
  const std::uint64_t begin = batch.records.front().position;
  return checkpoint{batch.lane, begin, input_.note_at(begin) + blank + std::to_string(batch.next)};
}

std::string file_source::place_of(std::string_view /*lane*/, std::uint64_t position) const {
  const auto lines = input_.count_before(position, options_.format.separator);
  if (!lines)
    return "the record at byte " + std::to_string(position) + " of " +
           (input_.name() == "-" ? "standard input" : input_.name());
  return "line " + std::to_string(*lines + 1) + " of " + input_.name();
}

void file_source::must_be_of(const checkpoint& known) const {
  if (known.position > 0) input_.must_be(parts_of(known.note).beginning);
}

std::optional<std::uint64_t> file_source::lag() const {
  const auto total = input_.bytes();
  const std::uint64_t done = handed_out_to_;
  const std::uint64_t records = records_;
  if (!total || records == 0 || done == began_at_) return std::nullopt;
  const double mean = static_cast<double>(done - began_at_) / static_cast<double>(records);
  return *total <= done ? 0 : static_cast<std::uint64_t>(static_cast<double>(*total - done) / mean);
}

std::string fingerprint(std::string_view bytes) {
  const digest hashed = hasher(hash_kind::xxh3, hash_seed{})(bytes);
  std::array<char, 48> text{};
  char* end = std::to_chars(text.data(), text.data() + 20, bytes.size()).ptr;
  *end++ = ':';
  end = std::to_chars(end, text.data() + text.size(), hashed.low, 16).ptr;
  return {text.data(), end};
}

std::size_t fingerprinted_bytes(std::string_view print, std::string_view name) {
  std::size_t bytes = 0;
  const char* const last = print.data() + print.size();
  const auto [end, bad] = std::from_chars(print.data(), last, bytes);
  if (bad != std::errc{} || end == last || *end != ':' || bytes > max_fingerprinted)
    throw format_error("the checkpoint of " + std::string(name) + " is damaged; begin another job");
  return bytes;
}

}  // namespace everseen
