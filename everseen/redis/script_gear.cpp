#include "everseen/redis/script_gear.hpp"

#include <algorithm>

#include "everseen/redis/command.hpp"
#include "everseen/redis/fence.hpp"
#include "everseen/redis/lease.hpp"
#include "everseen/redis/positions.hpp"

namespace everseen::redis {

namespace {

using kind = meaning::kind;

meaning wrong_segment(std::string key) {
  return {.what = kind::damaged, .text = "is missing, or has another type or length", .key = std::move(key)};
}

/// A byte a key: which of the written segments is its own, from 1; 0 where it is late. None: all are the last
/// one's.
std::string places_of(const judging& q, std::span<const judging::target> written) {
  std::string places;
  places.reserve(q.slices.size());
  for (const window::slice_index slice : q.adding ? std::span(q.slices) : std::span<window::slice_index>()) {
    const auto found = std::ranges::lower_bound(written, slice, {}, [](const auto& t) { return t.id.slice; });
    const bool is_there = found != written.end() && found->id.slice == slice;
    places += is_there ? static_cast<char>(found - written.begin() + 1) : '\0';
  }
  return places;
}

}  // namespace

std::string script_gear::encoded(const script& s, const script_words& w, bool with_text) {
  const std::string count = std::to_string(w.keys.size());
  std::vector<std::string_view> words = {with_text ? "EVAL" : "EVALSHA", with_text ? s.text : s.sha1, count};
  words.insert(words.end(), w.keys.begin(), w.keys.end());
  words.insert(words.end(), w.arguments.begin(), w.arguments.end());
  return encode(words);
}

request script_gear::call(const script& s, std::uint32_t partition, const script_words& w) const {
  return {{w.keys.front(), partition}, encoded(s, w, with_text_), 1, true};
}

meaning script_gear::understand(std::uint32_t partition, const answer& a) {
  if (!a) return {kind::lost, a.error().message};
  return understand(partition, a->back());
}

meaning script_gear::understand(std::uint32_t partition, const reply& r) {
  if (r.is_error("NOSCRIPT") && !with_text_) {
    with_text_ = true;
    return {kind::again};
  }
  with_text_ = false;
  if (forbids_scripts(r)) return {kind::forbidden, std::string(r.text())};
  if (r.is_error()) return {kind::refused, std::string(r.text())};
  const std::string state = filter_.keys.state(filter_.generation, partition);
  if (r.what() == reply::kind::nil || r.what() == reply::kind::array)
    return {kind::refused, "a script was answered by something else than it says"};
  if (r.text() == "S") return {kind::stale};
  if (r.text() == "M") return {.what = kind::gone, .text = "is missing", .key = state};
  if (r.text() == "C") return {.what = kind::damaged, .text = "lacks a valid count", .key = state};
  if (const auto left = held_for(r.text())) {
    meaning held{kind::held};
    held.left = *left;
    return held;
  }
  return {kind::done, std::string(r.text())};
}

unsigned script_gear::probes_of(const judging& q) noexcept {
  // The same in all layers, but of RedisBloom, whose newest has most.
  unsigned most = 1;
  for (const judging::target& t : q.targets) most = std::max<unsigned>(most, t.layer.shape.probes);
  return most;
}

void script_gear::append_keys(script_words& w, const judging& q) const {
  const auto written = std::span(q.targets).last(q.written);
  auto& words = w.arguments;
  words.insert(words.end(),
               {std::to_string(q.digests.size()), std::to_string(q.written), places_of(q, written)});
  const bool limited = filter_.spec.growth != growth_kind::overfill;
  for (const judging::target& t : written)
    words.insert(words.end(), {count_field(t.id), limited ? std::to_string(t.layer.capacity) : ""});
  for (const judging::target& t : q.targets) {
    w.keys.push_back(filter_.keys.segment(filter_.generation, t.id));
    words.push_back(std::to_string(t.layer.shape.bytes));
  }
  // First layers of all slices are alike, so a key has the same bits in them.
  std::vector<geometry> shapes;
  for (const judging::target& t : q.targets) {
    const auto known = std::ranges::find(shapes, t.layer.shape);
    words.push_back(std::to_string(known - shapes.begin() + 1));
    if (known == shapes.end()) shapes.push_back(t.layer.shape);
  }
  for (const geometry& shape : shapes) words.push_back(pack_positions(shape, q.digests, probes_of(q)));
}

request script_gear::judge(const judging& q) {
  script_words w = {{filter_.keys.state(filter_.generation, q.partition)}, {std::to_string(q.epoch)}};
  if (q.adding) {
    w.keys.push_back(filter_.keys.token(filter_.generation, q.partition, client_));
    w.arguments.insert(w.arguments.end(), {q.sequence, std::to_string(filter_.keeps_answers.count()),
                                           filter_.spec.growth == growth_kind::refuse ? "1" : "0"});
  }
  append_keys(w, q);
  const unsigned probes = probes_of(q);
  request asked = call(q.adding ? scripts::add(probes) : scripts::check(probes), q.partition, w);
  if (q.adding) asked.repeatable = repetition(filter_.keeps_answers);
  return asked;
}

meaning script_gear::judged(const judging& q, const answer& a) {
  meaning o = understand(q.partition, a);
  return o.what == kind::done ? verdicts_in(q, a->back(), std::move(o)) : o;
}

meaning script_gear::verdicts_in(const judging& q, const reply& r, meaning o) const {
  if (const auto number = scripts::damaged_segment(o.text, q.targets.size()))
    return wrong_segment(filter_.keys.segment(filter_.generation, q.targets[*number - 1].id));
  const char* const possible =
      q.slices.empty() ? "013" : "0123";  // of one slice the client knows who is late
  if (r.what() != reply::kind::string || o.text.find_first_not_of(possible) != std::string::npos)
    return {kind::refused, "a script answered '" + o.text.substr(0, 20) + "', which are no verdicts"};
  o.wants_growth = o.text.size() < q.digests.size();
  return o;
}

request script_gear::recall(const judging& q) {
  return call(scripts::recall(), q.partition,
              {{filter_.keys.state(filter_.generation, q.partition),
                filter_.keys.token(filter_.generation, q.partition, client_)},
               {q.sequence, std::to_string(filter_.keeps_answers.count())}});
}

meaning script_gear::recalled(const judging& q, const answer& a) {
  meaning o = understand(q.partition, a);
  if (o.what == kind::done && o.text.find_first_not_of("0123") != std::string::npos)
    return {kind::refused, "a script answered '" + o.text.substr(0, 20) + "', which are no verdicts"};
  return o;
}

request script_gear::lengthen(const lengthening& l) {
  return call(scripts::lengthen(), l.id.partition,
              {{filter_.keys.state(filter_.generation, l.id.partition),
                filter_.keys.segment(filter_.generation, l.id)},
               {std::to_string(l.epoch), std::to_string(l.bytes), std::string(unpublished_life_ms)}});
}

meaning script_gear::lengthened(const lengthening& l, const answer& a) {
  meaning o = understand(l.id.partition, a);
  if (o.what != kind::done) return o;
  o.length = static_cast<std::uint64_t>(std::max<std::int64_t>(a->back().integer(), 0));
  if (o.length < l.bytes) return {kind::refused, "a segment was not lengthened as it was asked for"};
  return o;
}

request script_gear::publish(const publication& p) {
  script_words w = {
      {filter_.keys.state(filter_.generation, p.partition), filter_.keys.segment(filter_.generation, p.added),
       filter_.keys.fence(filter_.generation, p.partition)},
      {std::to_string(p.epoch), std::to_string(p.next_epoch), p.manifest, std::to_string(p.bytes),
       count_field(p.added), fence::bytes_of(p.next_epoch)}};
  for (const segment_id& id : p.expired) {
    w.keys.push_back(filter_.keys.segment(filter_.generation, id));
    w.arguments.push_back(count_field(id));
  }
  return call(scripts::publish(), p.partition, w);
}

meaning script_gear::published(const publication& p, const answer& a) {
  meaning o = understand(p.partition, a);
  if (o.what == kind::done && o.text == "D1") return {kind::unmade};
  return o;
}

}  // namespace everseen::redis
