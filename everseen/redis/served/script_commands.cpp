#include <algorithm>
#include <optional>

#include "everseen/core/base/digits.hpp"
#include "everseen/redis/script/positions.hpp"
#include "everseen/redis/served/command_set.hpp"
#include "everseen/redis/served/lane_claim.hpp"
#include "everseen/redis/served/served_scripts.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

using kind = call_result::kind;

/// One byte per key: the written segment that is its own, from 1; 0 if it is late. Empty: all belong to the
/// last one.
std::string places_of(const judge_call& q, std::span<const judge_call::target> written) {
  std::string places;
  places.reserve(q.slices.size());
  for (const window::slice_index slice : q.adding ? std::span(q.slices) : std::span<window::slice_index>()) {
    const auto found = std::ranges::lower_bound(written, slice, {}, [](const auto& t) { return t.id.slice; });
    const bool is_there = found != written.end() && found->id.slice == slice;
    places += is_there ? static_cast<char>(found - written.begin() + 1) : '\0';
  }
  return places;
}

/// The same in all layers, except for RedisBloom, whose newest layer has the most.
unsigned probes_of(const judge_call& q) {
  unsigned most = 1;
  for (const judge_call::target& t : q.targets) most = std::max<unsigned>(most, t.layer.shape.probes);
  return most;
}

const script& script_for(const judge_call& q) {
  const unsigned probes = probes_of(q);
  if (q.claim != nullptr) return scripts::claim(probes);
  return q.adding ? scripts::add(probes) : scripts::check(probes);
}

/// The number of keys of a call that one script judges. A claim is a chain of scripts with about a thousand
/// events each, which take a few milliseconds of the server's time. The events are divided evenly, without a
/// small remainder, since each script also has to raise every counter that occurs in it. One command raises
/// them all, and Lua limits a command to fewer than 8000 words.
std::size_t keys_a_script(const judge_call& q) {
  if (q.claim == nullptr) return q.digests.size();
  const std::size_t about =
      std::max<std::size_t>(1, 2000 / std::max<std::size_t>(2, q.claim->counts_per_event()));
  const std::size_t scripts = std::max<std::size_t>(1, (q.digests.size() + about / 2) / about);
  return (q.digests.size() + scripts - 1) / scripts;
}

/// The n of an answer `D<n>`, from 1 to the number of segments; nothing if it is another answer.
std::optional<std::size_t> damaged_segment(std::string_view said, std::size_t segments) {
  if (!said.starts_with('D')) return {};
  const auto number = read_number<std::size_t>(said.substr(1));
  return number && *number >= 1 && *number <= segments ? number : std::nullopt;
}

judge_call part_of(const judge_call& q, std::size_t from, std::size_t at_once) {
  judge_call part = q;
  const std::size_t count = std::min(at_once, q.digests.size() - from);
  part.digests = q.digests.subspan(from, count);
  part.first = q.first + from;
  if (q.slices.empty()) return part;
  const auto begin = q.slices.begin() + static_cast<std::ptrdiff_t>(from);
  part.slices.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  return part;
}

}  // namespace

/// Appends the arguments that script_text::segments reads.
void command_set::append_keys(script_words& w, const judge_call& q) const {
  const auto written = std::span(q.targets).last(q.written);
  auto& words = w.arguments;
  words.insert(words.end(),
               {std::to_string(q.digests.size()), std::to_string(q.written), places_of(q, written)});
  const bool limited = filter().spec.growth != growth_kind::overfill;
  for (const judge_call::target& t : written)
    words.insert(words.end(), {count_field(t.id), limited ? std::to_string(t.layer.capacity) : ""});
  for (const judge_call::target& t : q.targets) {
    w.keys.push_back(filter().keys.segment(t.id));
    words.push_back(std::to_string(t.layer.shape.bytes));
  }
  // The first layers of all slices have the same shape, so a key has the same bits in them.
  std::vector<geometry> shapes;
  for (const judge_call::target& t : q.targets) {
    const auto known = std::ranges::find(shapes, t.layer.shape);
    words.push_back(std::to_string(known - shapes.begin() + 1));
    if (known == shapes.end()) shapes.push_back(t.layer.shape);
  }
  for (const geometry& shape : shapes) words.push_back(pack_positions(shape, q.digests, probes_of(q)));
}

/// @param head, forgotten_bytes  of the lane's record, for a claim
command_set::script_words command_set::words_of(const judge_call& part, const std::string& head,
                                                std::size_t forgotten_bytes) const {
  const std::string state = filter().keys.state(part.partition);
  const std::string refuses = filter().spec.growth == growth_kind::refuse ? "1" : "0";
  script_words w = {{state}, {std::to_string(part.epoch)}};
  if (part.claim != nullptr) {
    lane_claim& claim = *part.claim;
    const lane_claim::counting counts = claim.counts(part);
    w.keys.push_back(partition_keys::lane_records(state, claim.job()));
    w.arguments.insert(
        w.arguments.end(),
        {claim.lane(), head, std::to_string(forgotten_bytes + 1), partition_keys::job_field(claim.job()),
         refuses, claim.positions(part), counts.places, std::to_string(claim.counts_per_event())});
    append_keys(w, part);
    w.arguments.insert(w.arguments.end(), counts.names.begin(), counts.names.end());
    return w;
  }
  if (part.adding) {
    w.keys.push_back(filter().keys.token(part.partition, client_));
    w.arguments.insert(w.arguments.end(), {part.sequence, std::to_string(keeps_answers_.count()), refuses});
  }
  append_keys(w, part);
  return w;
}

/// The scripts of a claim are all sent before the first is answered.
///
/// Each script names the head of the record that the previous one leaves if it judges all of its events: the
/// position of its last event. So they take effect in order or not at all: if one stops early, is refused, or
/// never runs, the later ones find another head and do nothing. No other call leaves that head, since
/// positions ascend. A claim needs no token: if all or part of a chain is sent again, only the missing part
/// takes effect. If the result is `claimed`, the record has the verdicts of the events.
request command_set::judge_by_scripts(const judge_call& q) const {
  request all{{filter().keys.state(q.partition), q.partition}, {}, 0, true};
  if (q.adding && q.claim == nullptr) all.repeatable = repetition(keeps_answers_);
  all.what = &script_for(q);
  const std::size_t each = keys_a_script(q);
  lane_claim::link link;
  if (q.claim != nullptr) link = q.claim->first_link();
  for (std::size_t from = 0; from < q.digests.size(); from += each) {
    const judge_call part = part_of(q, from, each);
    const script_words w = words_of(part, link.head, link.forgotten_bytes);
    all.wire += encode_call(*all.what, w.keys, w.arguments);
    ++all.commands;
    if (q.claim != nullptr) link = q.claim->link_behind(part);
  }
  return all;
}

call_result command_set::judged_by_scripts(const judge_call& q, const answer& a) {
  if (!a) return call_result::failed(a.error().message);
  const std::size_t each = keys_a_script(q);
  call_result all;
  for (std::size_t i = 0; i < a->size(); ++i) {
    const judge_call part = part_of(q, i * each, each);
    const call_result one = verdicts_of_script(part, (*a)[i]);
    if (one.what != kind::done) return i == 0 ? one : all;
    if (q.claim != nullptr) q.claim->take(part, one.text);
    all.text += one.text;
    all.wants_growth = one.text.size() < part.digests.size();
    if (all.wants_growth) break;
  }
  return all;
}

call_result command_set::verdicts_of_script(const judge_call& part, const reply& r) {
  const std::string state = filter().keys.state(part.partition);
  call_result o = understand(state, state, r);
  if (o.what != kind::done) return o;
  if (part.claim != nullptr && o.text == "P") return {kind::claimed};
  if (part.claim != nullptr && o.text == "J") return {kind::ended};
  if (const auto number = damaged_segment(o.text, part.targets.size()))
    return call_result::damaged(filter().keys.segment(part.targets[*number - 1].id),
                                "is missing, or has another type or length");
  const char* const possible =
      part.slices.empty() ? "013"
                          : "0123";  // if all keys have one slice, the client knows whether it is late
  if (r.what() != reply::kind::string || o.text.find_first_not_of(possible) != std::string::npos)
    return call_result::failed(
        refused_command(state, "a script answered '" + o.text.substr(0, 20) + "', which are not verdicts"));
  return o;
}

request command_set::grow(const growth_call& g) const {
  const std::uint32_t partition = g.segment.partition;
  script_words w = {
      {filter().keys.state(partition), filter().keys.segment(g.segment)},
      {std::to_string(g.epoch), std::to_string(g.bytes), std::to_string(partition_keys::growth_step_bytes),
       std::string(partition_keys::unpublished_life_ms), std::to_string(g.next.epoch),
       encode_manifest(filter(), partition, {g.next.slices}), count_field(g.segment)}};
  for (const segment_id& id : g.expired) {
    w.keys.push_back(filter().keys.segment(id));
    w.arguments.push_back(count_field(id));
  }
  request r{{w.keys.front(), partition}, encode_call(scripts::grow(), w.keys, w.arguments), 1, true};
  r.what = &scripts::grow();
  return r;
}

call_result command_set::grown(const growth_call& g, const answer& a) {
  if (!a) return call_result::failed(a.error().message);
  return understand(filter().keys.state(g.segment.partition), filter().keys.segment(g.segment), a->back());
}

/// Handles the answers by which any of the scripts refuses a call.    @param key  the key that an error is
/// about
call_result command_set::understand(const std::string& state, const std::string& key, const reply& r) {
  if (forbids_scripts(r)) return call_result::failed(scripts_forbidden("the Redis server of " + state));
  if (r.is_error()) return call_result::refused(key, r);
  if (r.what() == reply::kind::nil || r.what() == reply::kind::array)
    return call_result::failed(refused_command(key, "a script sent an answer that is not one of its own"));
  if (r.text() == "S") return {kind::stale};
  if (r.text() == "M") return call_result::gone(state);
  if (r.text() == "C") return call_result::damaged(state, "lacks a valid count");
  return {kind::done, std::string(r.text())};
}

}  // namespace everseen::redis
