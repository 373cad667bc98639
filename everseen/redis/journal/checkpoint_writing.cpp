// How a mirror moves the checkpoint on the server to its own position.
//
// One client at a time does so, under a lease that every step names by its random token. It writes each
// changed segment to a staged key, bypassing scripts, which would hash every byte. A script then renames the
// staged key to the segment, if the lease is still valid. After the lease has expired, another client may
// take over, and later steps of this one are refused. The segments that it has already replaced do no harm:
// their additional bits are in the journal as well, and nothing counts before the one command that moves the
// beginning of the journal.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/journal/partition_mirror.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/segment_list.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

constexpr std::uint64_t written_page_bytes = piece_bytes;
constexpr std::size_t written_pages_at_once = 256;
/// The time for one segment, so that a client that hangs is soon replaced; and more for each MiB.
constexpr std::uint64_t least_life_ms = 30'000;
constexpr std::uint64_t life_ms_a_mib = 1'000;
/// Attempts while other clients keep adding. The next client that adds tries as well.
constexpr int most_beginnings = 3;
/// A client that asks for the fate of its last record later than this gets no answer.
constexpr std::string_view calls_kept_s = "86400";

bool is_zero(std::string_view page) noexcept {
  return page.find_first_not_of('\0') == std::string_view::npos;
}

/// The word before the n-th segment: each step then happens once, however often its command arrives.
std::string step(const std::string& word, std::uint64_t n) {
  return word + "." + std::to_string(n);
}

std::string life_ms(const partition_state& s) {
  std::uint64_t longest = 0;
  for (const listed_segment& each : segments_of(0, s.slices))
    longest = std::max<std::uint64_t>(longest, each.layer.shape.bytes);
  return std::to_string(least_life_ms + life_ms_a_mib * (longest >> 20));
}

/// A page of a staged key. The first page to arrive creates the key with a time limit, so pages may arrive in
/// any order, repeatedly or late, and leave nothing behind for good.
request page_of(const route& to, const std::string& staged, std::uint64_t from, std::string_view page,
                const std::string& life_ms) {
  request r{to, {}, 2, true};
  constexpr std::size_t around_the_page = 512;
  r.wire.reserve(page.size() + around_the_page);
  r.wire = encode({"SET", staged, "", "PX", life_ms, "NX"});
  append_command(r.wire, std::array<std::string_view, 4>{"SETRANGE", staged, std::to_string(from), page});
  return r;
}

/// The list of all segments that a checkpoint may create, including those left by abandoned ones, so that any
/// client can find and remove them.
std::string list_of(const filter_identity& of, std::uint32_t number, const partition_state& own,
                    std::string_view abandoned) {
  std::string list = encode_manifest(of, number, own);
  if (abandoned.empty()) return list;
  image::manifest all = decode_manifest(of, number, list);
  for (const image::manifest::entry& left : decode_manifest(of, number, abandoned).segments)
    if (std::ranges::find(all.segments, left.id, &image::manifest::entry::id) == all.segments.end())
      all.segments.push_back(left);
  std::ranges::sort(all.segments, {}, &image::manifest::entry::id);
  const auto bytes = image::encode_manifest(all);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

/// @return the checkpoint to be replaced; nothing: another client has the lease
std::optional<stored_checkpoint> partition_mirror::begin_checkpoint(session& with, const std::string& word) {
  std::string abandoned;
  for (int attempt = 0; attempt < most_beginnings; ++attempt) {
    const reply begun = run_script(
        with, {&journal_scripts::begin_checkpoint(),
               place(),
               {of_.keys.state(number_)},
               {to_text(journal_.begin()), to_text(position()), step(word, 0), life_ms(logic_->state()),
                list_of(of_, number_, logic_->state(), abandoned), abandoned}});
    const std::string_view said = begun[0].text();
    if (said == "K")
      return stored_checkpoint{decode_checkpoint(of_, number_, begun[1].text(), begun[2].text()),
                               journal_.begin(), position(), decode_segments(of_, number_, abandoned)};
    if (said == "A") {
      abandoned = begun[1].text();
      continue;
    }
    if (said == "S")
      if (const auto moved = parse_journal_position(begun[1].text())) move_begin(*moved);
    if (said != "E") break;  // the next batch finds out why there is no state
    read_on(with);
    if (!wants_checkpoint()) break;
  }
  return std::nullopt;
}

void partition_mirror::write_checkpoint(session& with) {
  const std::string word = random_name();
  const auto before = begin_checkpoint(with, word);
  if (!before) return;
  const std::string life = life_ms(logic_->state());
  std::uint64_t written = 0;
  std::map<segment_id, std::uint64_t> stored;
  for (const listed_segment& s : segments_of(number_, before->state.slices)) stored[s.id] = s.layer.keys;
  for (const listed_segment& s : segments_of(number_, logic_->state().slices)) {
    const auto there = stored.find(s.id);
    if (there != stored.end() && there->second == s.layer.keys) continue;
    if (!write_segment(with, word, s.id, s.layer.shape.bytes, life, written++)) return;
  }

  script_call commit{
      &journal_scripts::commit_checkpoint(),
      place(),
      {of_.keys.state(number_)},
      {step(word, written), to_text(position()), encode_manifest(of_, number_, logic_->state()),
       encode_counts(logic_->state()), std::string(calls_kept_s)}};
  for (std::uint64_t chunk = journal_.begin().offset / journal_chunk_bytes;
       chunk < position().offset / journal_chunk_bytes; ++chunk)
    commit.keys.push_back(of_.keys.chunk(number_, chunk));
  std::set<segment_id> left;
  for (const auto& [id, keys] : stored) left.insert(id);
  left.insert(before->being_written.begin(), before->being_written.end());
  for (const listed_segment& s : segments_of(number_, logic_->state().slices)) left.erase(s.id);
  for (const segment_id& id : left) commit.keys.push_back(of_.keys.segment(id));
  if (run_script(with, std::move(commit))[0].text() == "K") move_begin(position());
}

/// @param number  of the segment in this checkpoint: a late copy of a page must not reach another segment's
///   key
/// @return false  another client has taken over
bool partition_mirror::write_segment(session& with, const std::string& word, const segment_id& id,
                                     std::uint64_t bytes, const std::string& life_ms, std::uint64_t number) {
  const std::string_view bits(reinterpret_cast<const char*>(place_.at(id)), bytes);
  const std::string key = of_.keys.segment(id);
  const std::string staged = of_.keys.staged(number_, word, number);
  std::vector<request> pages;
  // The last page always comes first: it gives the string its length, so the server allocates its memory
  // once.
  for (std::uint64_t end = bytes; end > 0;) {
    const std::uint64_t from = (end - 1) / written_page_bytes * written_page_bytes;
    const std::string_view page = bits.substr(from, end - from);
    if (end == bytes || !is_zero(page)) pages.push_back(page_of(place(), staged, from, page, life_ms));
    end = from;
    if (pages.size() == written_pages_at_once || end == 0) (void)exchange_all(with, std::exchange(pages, {}));
  }
  const auto answers =
      run_scripts(with, {{&journal_scripts::place_segment(),
                          place(),
                          {of_.keys.state(number_), staged, key},
                          {step(word, number), step(word, number + 1), std::to_string(bytes), life_ms}}});
  const std::string_view said = expect_reply(answers.front(), key)[0].text();
  if (said == "U") refuse_lack(answers.front(), key);
  return said == "K";
}

}  // namespace everseen::redis
