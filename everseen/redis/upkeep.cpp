#include "everseen/redis/upkeep.hpp"

#include <algorithm>

#include "everseen/core/error.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/scripts.hpp"

namespace everseen::redis {

namespace {

/// Where it meets other bits, a script goes through a page byte by byte: some milliseconds of the server's
/// time.
constexpr std::size_t merged_bytes = std::size_t{16} << 10;

/// What a step makes of a partition.
struct change {
  bool forget = false;  // its segments
  std::string field{};  // of the state
  std::string value{};
  bool ends = false;      // its keys, at...
  std::string ends_at{};  // milliseconds since 1970; empty: never
  bool check_length = false;
};

remote_partition look_at(session& with, const remote_filter& f, std::uint32_t partition) {
  const std::string state = f.keys.state(f.generation, partition);
  return decode_state(f, partition, ask_about(with, {state, partition}, {"HGETALL", state}));
}

answer run(session& with, const route& to, std::string wire, std::size_t commands,
           repetition may_run_again = true) {
  std::vector<request> requests;
  requests.push_back({to, std::move(wire), commands, may_run_again});
  answer a = std::move(with.exchange(requests).front());
  if (!a) throw backend_error(a.error().message);
  return a;
}

void require_no_error(const reply& r, const std::string& key) {
  if (r.is_error()) throw backend_error(refused_command(key, r.text()));
}

reply ask_script(session& with, const route& to, const script& s, const std::vector<std::string>& keys,
                 const std::vector<std::string>& arguments) {
  const std::string count = std::to_string(keys.size());
  std::vector<std::string_view> words = {"EVAL", s.text, count};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  reply r = run(with, to, encode(words), 1)->front();
  if (forbids_scripts(r))
    throw backend_error("the Redis server forbids scripts, and this needs them; allow its user EVAL");
  require_no_error(r, to.key);
  return r;
}

std::string attempt(session& with, const remote_filter& f, const remote_partition& was, const change& c) {
  const std::uint64_t epoch = was.epoch + 1;
  const remote_partition next = {was.number, epoch, c.forget ? std::vector<slice_state>{} : was.slices};
  std::vector<std::string> keys = {f.keys.state(f.generation, was.number)};
  std::vector<std::string> arguments = {std::to_string(was.epoch), std::to_string(epoch),
                                        encode_state(f, next), c.field, c.value};
  if (c.ends) arguments.push_back(c.ends_at);
  for (const slice_state& slice : was.slices)
    for (std::uint32_t layer = 0; (c.forget || c.ends) && layer < slice.layers.size(); ++layer) {
      const segment_id id = {was.number, slice.index, layer};
      keys.push_back(f.keys.segment(f.generation, id));
      if (c.forget) arguments.push_back(count_field(id));
      if (c.ends) arguments.push_back(c.check_length ? std::to_string(slice.layers[layer].shape.bytes) : "");
    }
  const script& s = c.ends ? scripts::settle() : scripts::revise();
  const route state = {keys.front(), was.number};
  const reply done = ask_script(with, state, s, keys, arguments);
  if (done.text() == "M") throw damaged_key(keys.front(), "is missing");
  if (const auto number = scripts::damaged_segment(done.text(), keys.size() - 1))
    throw damaged_key(keys[*number], "is missing, or has another type or length");
  if (done.text() != "K" && done.text() != "S")
    throw backend_error("the Redis server answered a script on " + keys.front() +
                        " by something else than it says");
  return std::string(done.text());
}

/// Sent twice it answers stale the second time, and is done once more: that does no harm.
void carry_out(session& with, const remote_filter& f, std::uint32_t partition, const change& c) {
  contention others(f, partition);
  while (attempt(with, f, look_at(with, f, partition), c) != "K") others.yield();
}

}  // namespace

void contention::yield() {
  if (!wait_.again())
    throw backend_error("the partition " + state_ +
                        " changes faster than it can be looked at; try again when fewer clients use it");
}

void empty_partition(session& with, const remote_filter& f, std::uint32_t partition) {
  carry_out(with, f, partition, {.forget = true});
}

void renew_epoch(session& with, const remote_filter& f, std::uint32_t partition) {
  carry_out(with, f, partition, {});
}

void announce(session& with, const remote_filter& f, std::uint32_t partition, std::uint64_t next) {
  carry_out(with, f, partition, {.field = "next", .value = std::to_string(next)});
}

bool call_partition(session& with, const remote_filter& f, std::uint32_t partition, const std::string& name,
                    const std::function<bool()>& is_still_so) {
  contention others(f, partition);
  for (;;) {
    const remote_partition was = look_at(with, f, partition);
    if (!is_still_so()) return false;
    if (attempt(with, f, was, {.field = "named", .value = name}) == "K") return true;
    others.yield();
  }
}

void end_partition(session& with, const remote_filter& f, std::uint32_t partition, std::uint64_t number,
                   std::optional<event_time> when) {
  const change ending = {.field = "end_number",
                         .value = std::to_string(number),
                         .ends = true,
                         .ends_at = when ? to_text(*when) : ""};
  const std::string state = f.keys.state(f.generation, partition);
  contention others(f, partition);
  for (;;) {
    const reply fields = ask_about(with, {state, partition}, {"HGETALL", state});
    if (fields.size() == 0) return;
    const remote_partition was = decode_state(f, partition, fields);
    if (was.end_number >= number || attempt(with, f, was, ending) == "K") return;
    others.yield();
  }
}

void make_lasting(session& with, const remote_filter& f, std::uint32_t partition) {
  carry_out(with, f, partition,
            {.ends = true, .ends_at = f.ends_at ? to_text(*f.ends_at) : "", .check_length = true});
}

void close_partition(session& with, const remote_filter& f, std::uint32_t partition, event_time until) {
  const std::string state = f.keys.state(f.generation, partition);
  contention others(f, partition);
  for (;;) {
    const reply fields = ask_about(with, {state, partition}, {"HGETALL", state});
    if (fields.size() == 0) return;
    const remote_partition was = decode_state(f, partition, fields);
    if (was.closed) return;
    const change closing = {.field = "closed", .value = "1", .ends = true, .ends_at = to_text(until)};
    if (attempt(with, f, was, closing) == "K") return;
    others.yield();
  }
}

void merge_bits(session& with, const remote_filter& f, const segment_id& id, std::span<const std::byte> bits,
                std::uint64_t keys) {
  const std::string key = f.keys.segment(f.generation, id);
  for (std::size_t from = 0; from < bits.size(); from += merged_bytes) {
    const auto page = bits.subspan(from, std::min(merged_bytes, bits.size() - from));
    if (std::ranges::all_of(page, [](std::byte b) { return b == std::byte{0}; })) continue;
    const std::string text(reinterpret_cast<const char*>(page.data()), page.size());
    if (ask_script(with, {key, id.partition}, scripts::merge(), {key}, {std::to_string(from), text}).text() !=
        "K")
      throw damaged_key(key, "is missing or shorter than it was");
  }
  if (keys == 0) return;
  const std::string state = f.keys.state(f.generation, id.partition);
  // Counted twice they would fill the filter early; so an outage just here ends what merges.
  const std::string wire = encode({"HINCRBY", state, count_field(id), std::to_string(keys)});
  require_no_error(run(with, {state, id.partition}, wire, 1, false)->front(), state);
}

void unlink_partitions(session& with, const remote_filter& f) {
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) unlink_partition(with, f, p);
}

void unlink_partition(session& with, const remote_filter& f, std::uint32_t partition) {
  const std::string state = f.keys.state(f.generation, partition);
  // From the names of the counts: they stay readable where the manifest does not.
  constexpr std::string_view counts = "keys:";
  std::vector<std::string> keys = {state};
  try {
    const reply fields = ask_about(with, {state, partition}, {"HKEYS", state});
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (const std::string_view field = fields[i].text(); field.starts_with(counts)) {
        keys.push_back(state + ":" + std::string(field.substr(counts.size())));
      } else if (field.starts_with(partition_keys::job_field)) {
        const std::string_view job = field.substr(partition_keys::job_field.size());
        keys.push_back(partition_keys::lane_records(state, job));
      }
  } catch (const format_error&) {
    // Of another type: it goes, and names nothing else.
  }
  std::vector<std::string_view> words = {"UNLINK"};
  words.insert(words.end(), keys.begin(), keys.end());
  require_no_error(run(with, {state, partition}, encode(words), 1)->front(), state);
}

bool change_header(session& with, const std::string& key, const header_fields& if_so,
                   const header_fields& changes) {
  std::vector<std::string> arguments = {std::to_string(if_so.size())};
  for (const header_fields* all : {&if_so, &changes})
    for (const auto& [field, value] : *all) arguments.insert(arguments.end(), {std::string(field), value});
  return ask_script(with, {key, 0}, scripts::change_header(), {key}, arguments).integer() == 1;
}

bool remove_header_if(session& with, const route& to, const header_fields& if_so) {
  std::vector<std::string> arguments;
  for (const auto& [field, value] : if_so) arguments.insert(arguments.end(), {std::string(field), value});
  return ask_script(with, to, scripts::remove_if(), {to.key}, arguments).integer() == 1;
}

}  // namespace everseen::redis
