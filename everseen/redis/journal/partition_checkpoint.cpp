#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/journal/lease_times.hpp"
#include "everseen/redis/journal/partition_mirror.hpp"
#include "everseen/redis/journal/staged_segment.hpp"
#include "everseen/redis/journal/stored_checkpoint.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"

/// How a mirror moves the checkpoint on the server to its own position.
///
/// One client at a time does so, under a lease that every step names by its random token. It writes each
/// changed segment (staged_segment). After the lease has expired, another client may take over, and later
/// steps of this one are refused. The segments that it has already replaced do no harm: their additional bits
/// are in the journal as well, and nothing counts before the one command that moves the beginning of the
/// journal.
namespace everseen::redis {

namespace {

/// Attempts while other clients keep adding. The next client that adds tries as well.
constexpr int most_beginnings = 3;

/// The word before the n-th segment: each step then happens once, however often its command arrives.
std::string step(const std::string& word, std::uint64_t n) {
  return word + "." + std::to_string(n);
}

std::string life_ms(const partition_state& s) {
  std::uint64_t longest = 0;
  for (const announced_filter::segment& each : segments_of(0, s.slices))
    longest = std::max<std::uint64_t>(longest, each.layer.shape.bytes);
  return std::to_string(checkpoint_lease_ms(longest));
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
    const staged_segment changed{{place(), filter_.keys.staged(number_, word, written), life},
                                 filter_.keys.state(number_),
                                 filter_.keys.segment(s.id),
                                 step(word, written),
                                 step(word, written + 1)};
    ++written;
    const auto* const bits = reinterpret_cast<const char*>(place_.at(s.id));
    if (!write_segment(connections, changed, {bits, s.layer.shape.bytes})) return;
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

}  // namespace everseen::redis
