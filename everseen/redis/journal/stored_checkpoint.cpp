#include "everseen/redis/journal/stored_checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

/// Of a segment: what is read with one request, before it is copied to its place.
constexpr std::uint64_t read_at_once = std::uint64_t{4} << 20;
constexpr int most_truncation_attempts = 1000;

std::uint64_t random_number() {
  const image::filter_id random = image::random_filter_id();
  return load_le64(random.data());
}

}  // namespace

std::string encode_counts(const partition_state& s) {
  std::string counts;
  for (const slice_state& slice : s.slices)
    for (const layer_state& layer : slice.layers) {
      counts.resize(counts.size() + 8);
      store_le(counts.data() + counts.size() - 8, layer.keys);
    }
  return counts;
}

std::vector<segment_id> decode_segments(const filter_identity& f, std::uint32_t partition,
                                        std::string_view manifest) {
  std::vector<segment_id> ids;
  if (manifest.empty()) return ids;
  for (const auto& entry : decode_manifest(f, partition, manifest).segments) ids.push_back(entry.id);
  return ids;
}

partition_state decode_checkpoint(const filter_identity& f, std::uint32_t partition,
                                  std::string_view manifest, std::string_view counts) {
  const std::string key = f.keys.state(partition);
  const image::manifest m = decode_manifest(f, partition, manifest);
  if (counts.size() != 8 * m.segments.size()) throw damaged_key(key, "lacks the counts of its segments");
  partition_state state;
  for (std::size_t i = 0; i < m.segments.size(); ++i) {
    const image::manifest::entry& entry = m.segments[i];
    if (state.slices.empty() || state.slices.back().index != entry.id.slice)
      state.slices.push_back({entry.id.slice, {}});
    state.slices.back().layers.push_back({entry.shape, entry.capacity, load_le64(counts.data() + 8 * i)});
  }
  return state;
}

namespace {

/// begin, end, manifest, counts, next, successor    @throws storage_error, backend_error  as read_checkpoint
reply checkpoint_fields(server_connections& connections, const filter_identity& f, std::uint32_t partition) {
  const std::string key = f.keys.state(partition);
  reply fields = ask_about(connections, {key, partition},
                           {"HMGET", key, "begin", "end", "manifest", "counts", "next", "successor"});
  if (fields[1].is_nil()) throw filter_is_gone(key);
  return fields;
}

/// @throws format_error  the state is damaged
stored_checkpoint checkpoint_in(const filter_identity& f, std::uint32_t partition, const reply& fields) {
  const std::string key = f.keys.state(partition);
  const auto begin = parse_journal_position(fields[0].text());
  const auto end = parse_journal_position(fields[1].text());
  if (!begin || !end || end->offset < begin->offset)
    throw damaged_key(key, "does not say where its journal is");
  const std::string_view next = fields[4].text();
  return {decode_checkpoint(f, partition, fields[2].text(), fields[3].text()), *begin, *end,
          decode_segments(f, partition, next), id_in_field(fields[5], key)};
}

}  // namespace

stored_checkpoint read_checkpoint(server_connections& connections, const filter_identity& f,
                                  std::uint32_t partition) {
  return checkpoint_in(f, partition, checkpoint_fields(connections, f, partition));
}

std::vector<std::string> strings_of(const filter_identity& f, std::uint32_t partition,
                                    const stored_checkpoint& c) {
  std::vector<std::string> keys;
  std::set<segment_id> segments(c.being_written.begin(), c.being_written.end());
  for (const announced_filter::segment& s : segments_of(partition, c.state.slices)) segments.insert(s.id);
  for (const segment_id& s : segments) keys.push_back(f.keys.segment(s));
  for (std::uint64_t chunk = c.begin.offset / journal_chunk_bytes;
       chunk <= c.end.offset / journal_chunk_bytes + 1; ++chunk)
    keys.push_back(f.keys.chunk(partition, chunk));
  return keys;
}

namespace {

/// The checkpoint in a state or, if it is damaged, as much of it as is readable.
stored_checkpoint as_far_as_known(const filter_identity& f, std::uint32_t partition, const reply& fields) {
  try {
    return checkpoint_in(f, partition, fields);
  } catch (const format_error&) {
    stored_checkpoint rest;
    rest.begin = parse_journal_position(fields[0].text()).value_or(journal_position{});
    rest.end = parse_journal_position(fields[1].text()).value_or(journal_position{});
    if (rest.end.offset < rest.begin.offset) std::swap(rest.begin, rest.end);
    // A longer journal is impossible: also damage.
    if (rest.end.offset - rest.begin.offset > std::uint64_t{1} << 40) rest.begin = rest.end = {};
    return rest;
  }
}

}  // namespace

storage_error not_emptied(server_connections& connections, const filter_identity& f,
                          std::uint32_t partition) {
  const std::string key = f.keys.state(partition);
  const auto next = id_in_field(ask_about(connections, {key, partition}, {"HGET", key, "successor"}), key);
  if (!next || *next == f.id) return filter_is_sealed(f, f.id, key);
  return {"the filter is being rebuilt; try again", 0, key};
}

/// The journal continues in the next chunk, with a checksum that no record has. Clients that have the
/// partition open therefore detect that their history has ended, and load it again.
void empty_journal(server_connections& connections, const filter_identity& f, std::uint32_t partition) {
  const std::string key = f.keys.state(partition);
  for (int attempt = 0; attempt < most_truncation_attempts; ++attempt) {
    const reply fields = checkpoint_fields(connections, f, partition);
    const stored_checkpoint checkpoint = as_far_as_known(f, partition, fields);
    const std::uint64_t reach = std::max(checkpoint.begin.offset, checkpoint.end.offset);
    const journal_position begin{(reach / journal_chunk_bytes + 1) * journal_chunk_bytes, random_number()};
    script_call call{&journal_scripts::empty(),
                     {key, partition},
                     {key},
                     {std::string(fields[1].text()), to_text(begin), encode_manifest(f, partition, {}),
                      std::string(fields[0].text()), std::string(fields[4].text())}};
    std::ranges::move(strings_of(f, partition, checkpoint), std::back_inserter(call.keys));
    const reply outcome = run_script(connections, std::move(call));
    if (outcome[0].text() == "M") throw filter_is_gone(key);
    if (outcome[0].text() == "N") throw not_emptied(connections, f, partition);
    if (outcome[0].text() == "J")
      throw parameter_error(
          "a job of the filter was created meanwhile, so it cannot be reset; end the job first");
    if (outcome[0].text() == "K") return;
  }
  throw backend_error("other clients add to " + key +
                      " faster than it can be emptied; try again when they add fewer keys");
}

bool read_segment(server_connections& connections, const filter_identity& f, const segment_id& id,
                  std::span<std::byte> into) {
  const std::string key = f.keys.segment(id);
  const route destination{key, id.partition};
  if (ask_about(connections, destination, {"STRLEN", key}).integer() !=
      static_cast<std::int64_t>(into.size()))
    return false;
  for (std::uint64_t from = 0; from < into.size(); from += read_at_once) {
    const std::uint64_t bytes = std::min<std::uint64_t>(read_at_once, into.size() - from);
    const string_range range{destination, from, from + bytes};
    const std::string part = std::move(read_ranges(connections, std::span(&range, 1)).front());
    if (part.size() != bytes) return false;
    std::memcpy(into.data() + from, part.data(), bytes);
  }
  return true;
}

}  // namespace everseen::redis
