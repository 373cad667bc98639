#include "everseen/redis/served/script_gear.hpp"

#include <algorithm>

#include "everseen/redis/script/positions.hpp"
#include "everseen/redis/served/served_scripts.hpp"

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

unsigned script_gear::probes_of(const judging& q) noexcept {
  // The same in all layers, but of RedisBloom, whose newest has most.
  unsigned most = 1;
  for (const judging::target& t : q.targets) most = std::max<unsigned>(most, t.layer.shape.probes);
  return most;
}

void script_gear::append_keys(partition_script::words& w, const judging& q) const {
  const auto written = std::span(q.targets).last(q.written);
  auto& words = w.arguments;
  words.insert(words.end(),
               {std::to_string(q.digests.size()), std::to_string(q.written), places_of(q, written)});
  const bool limited = filter_.spec.growth != growth_kind::overfill;
  for (const judging::target& t : written)
    words.insert(words.end(), {count_field(t.id), limited ? std::to_string(t.layer.capacity) : ""});
  for (const judging::target& t : q.targets) {
    w.keys.push_back(filter_.keys.segment(t.id));
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
  partition_script::words w = {{filter_.keys.state(q.partition)}, {std::to_string(q.epoch)}};
  if (q.adding) {
    w.keys.push_back(filter_.keys.token(q.partition, client_));
    w.arguments.insert(w.arguments.end(), {q.sequence, std::to_string(keeps_answers_.count()),
                                           filter_.spec.growth == growth_kind::refuse ? "1" : "0"});
  }
  append_keys(w, q);
  const unsigned probes = probes_of(q);
  request asked = script_.call(q.adding ? scripts::add(probes) : scripts::check(probes), q.partition, w);
  if (q.adding) asked.repeatable = repetition(keeps_answers_);
  return asked;
}

meaning script_gear::judged(const judging& q, const answer& a) {
  meaning o = script_.understand(q.partition, a);
  return o.what == kind::done ? verdicts_in(q, a->back(), std::move(o)) : o;
}

meaning script_gear::verdicts_in(const judging& q, const reply& r, meaning o) const {
  if (const auto number = scripts::damaged_segment(o.text, q.targets.size()))
    return wrong_segment(filter_.keys.segment(q.targets[*number - 1].id));
  const char* const possible =
      q.slices.empty() ? "013" : "0123";  // of one slice the client knows who is late
  if (r.what() != reply::kind::string || o.text.find_first_not_of(possible) != std::string::npos)
    return {kind::refused, "a script answered '" + o.text.substr(0, 20) + "', which are no verdicts"};
  o.wants_growth = o.text.size() < q.digests.size();
  return o;
}

}  // namespace everseen::redis
