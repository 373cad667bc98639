// How a mirror moves the checkpoint on the server to where it is itself.
//
// One client at a time does so, by a random word that every page names. Whoever takes over from one who has
// not been heard of for its time shuts it out: what the first has written until then are bits that the
// journal holds as well, so they do no harm, and nothing of it counts before the one command that moves the
// beginning of the journal.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/journal/partition_mirror.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/segment_list.hpp"

namespace everseen::redis {

namespace {

constexpr std::uint64_t page_bytes = std::uint64_t{256} << 10;
constexpr std::size_t pages_at_once = 8;
/// From one page to the next, so that a client that hangs is replaced soon.
constexpr std::string_view life_ms = "30000";
/// Each time others have added meanwhile. The next who adds tries as well.
constexpr int most_beginnings = 3;
/// A client that asks about its last record later than this is not told whether it was added.
constexpr std::string_view calls_kept_s = "86400";

bool is_zero(std::string_view page) noexcept {
  return page.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

/// @return what is to be replaced; nothing: it is not this client's turn
std::optional<stored_checkpoint> partition_mirror::begin_checkpoint(session& with, const std::string& word) {
  for (int attempt = 0; attempt < most_beginnings; ++attempt) {
    const reply begun =
        run_script(with, {&journal_scripts::begin_checkpoint(),
                          place(),
                          {of_.keys.state(number_)},
                          {to_text(journal_.begin()), to_text(position()), word, std::string(life_ms),
                           encode_manifest(of_, number_, logic_->state())}});
    const std::string_view said = begun[0].text();
    if (said == "K")
      return stored_checkpoint{decode_checkpoint(of_, number_, begun[1].text(), begun[2].text()),
                               journal_.begin(), position(), decode_segments(of_, number_, begun[3].text())};
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
  std::map<segment_id, std::uint64_t> stored;
  for (const listed_segment& s : segments_of(number_, before->state.slices)) stored[s.id] = s.layer.keys;
  for (const listed_segment& s : segments_of(number_, logic_->state().slices)) {
    const auto there = stored.find(s.id);
    if (there != stored.end() && there->second == s.layer.keys) continue;
    if (!write_segment(with, word, s.id, s.layer.shape.bytes)) return;
  }

  script_call commit{&journal_scripts::commit_checkpoint(),
                     place(),
                     {of_.keys.state(number_)},
                     {word, to_text(position()), encode_manifest(of_, number_, logic_->state()),
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

/// @return false  somebody else has taken over
bool partition_mirror::write_segment(session& with, const std::string& word, const segment_id& id,
                                     std::uint64_t bytes) {
  const std::string_view bits(reinterpret_cast<const char*>(place_.at(id)), bytes);
  const std::string key = of_.keys.segment(id);
  std::vector<script_call> calls;
  const auto send = [&] {
    const std::vector<answer> answers = run_scripts(with, calls);
    calls.clear();
    return std::ranges::all_of(answers,
                               [&](const answer& a) { return expect_reply(a, key)[0].text() == "K"; });
  };
  for (std::uint64_t from = 0; from < bytes; from += page_bytes) {
    const std::string_view page = bits.substr(from, page_bytes);
    const bool is_last = from + page.size() == bytes;
    // The last one is written in any case: it gives the string its length.
    const bool is_sent = is_last || !is_zero(page);
    calls.push_back({&journal_scripts::write_page(),
                     place(),
                     {of_.keys.state(number_), key},
                     {word, std::to_string(from), std::string(is_sent ? page : ""),
                      std::to_string(page.size()), std::string(life_ms)}});
    if ((is_last || calls.size() == pages_at_once) && !send()) return false;
  }
  return true;
}

}  // namespace everseen::redis
