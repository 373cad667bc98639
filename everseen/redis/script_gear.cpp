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

}  // namespace

request script_gear::call(const script& s, std::uint32_t partition, const std::vector<std::string>& keys,
                          const std::vector<std::string>& arguments) const {
  const std::string count = std::to_string(keys.size());
  std::vector<std::string_view> words = {with_text_ ? "EVAL" : "EVALSHA", with_text_ ? s.text : s.sha1,
                                         count};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  return {{keys.front(), partition}, encode(words), 1, true};
}

meaning script_gear::understand(std::uint32_t partition, const answer& a) {
  if (!a) return {kind::lost, a.error().message};
  const reply& r = a->back();
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

request script_gear::judge(const judging& q) {
  std::vector<std::string> keys = {filter_.keys.state(filter_.generation, q.partition)};
  std::vector<std::string> arguments = {std::to_string(q.epoch)};
  if (q.adding) {
    const judging::target& written = q.targets.back();
    const bool limited = filter_.spec.growth != growth_kind::overfill;
    keys.push_back(filter_.keys.token(filter_.generation, q.partition, client_));
    arguments.insert(arguments.end(),
                     {q.sequence, std::to_string(filter_.keeps_answers.count()), count_field(written.id),
                      limited ? std::to_string(written.layer.capacity) : "",
                      filter_.spec.growth == growth_kind::refuse ? "1" : "0"});
  }
  arguments.push_back(std::to_string(q.digests.size()));
  for (const judging::target& t : q.targets) {
    keys.push_back(filter_.keys.segment(filter_.generation, t.id));
    arguments.push_back(std::to_string(t.layer.shape.bytes));
  }
  // The same in all layers, but of RedisBloom, whose newest has most.
  const unsigned probes = q.targets.back().layer.shape.probes;
  for (const judging::target& t : q.targets)
    arguments.push_back(pack_positions(t.layer.shape, q.digests, probes));
  request asked =
      call(q.adding ? scripts::add(probes) : scripts::check(probes), q.partition, keys, arguments);
  if (q.adding) asked.repeatable = repetition(filter_.keeps_answers);
  return asked;
}

meaning script_gear::judged(const judging& q, const answer& a) {
  meaning o = understand(q.partition, a);
  return verdicts_in(q, a, std::move(o));
}

meaning script_gear::verdicts_in(const judging& q, const answer& a, meaning o) const {
  if (o.what != kind::done) return o;
  if (const auto number = scripts::damaged_segment(o.text, q.targets.size()))
    return wrong_segment(filter_.keys.segment(filter_.generation, q.targets[*number - 1].id));
  if (a->back().what() != reply::kind::string || o.text.find_first_not_of("013") != std::string::npos)
    return {kind::refused, "a script answered '" + o.text.substr(0, 20) + "', which are no verdicts"};
  o.wants_growth = o.text.size() < q.digests.size();
  return o;
}

request script_gear::recall(const judging& q) {
  return call(scripts::recall(), q.partition,
              {filter_.keys.state(filter_.generation, q.partition),
               filter_.keys.token(filter_.generation, q.partition, client_)},
              {q.sequence, std::to_string(filter_.keeps_answers.count())});
}

meaning script_gear::recalled(const judging& q, const answer& a) {
  meaning o = understand(q.partition, a);
  if (o.what == kind::done && o.text.find_first_not_of("0123") != std::string::npos)
    return {kind::refused, "a script answered '" + o.text.substr(0, 20) + "', which are no verdicts"};
  return o;
}

request script_gear::lengthen(const lengthening& l) {
  return call(scripts::lengthen(), l.id.partition,
              {filter_.keys.state(filter_.generation, l.id.partition),
               filter_.keys.segment(filter_.generation, l.id)},
              {std::to_string(l.epoch), std::to_string(l.bytes), std::string(unpublished_life_ms)});
}

meaning script_gear::lengthened(const lengthening& l, const answer& a) {
  meaning o = understand(l.id.partition, a);
  if (o.what != kind::done) return o;
  o.length = static_cast<std::uint64_t>(std::max<std::int64_t>(a->back().integer(), 0));
  if (o.length < l.bytes) return {kind::refused, "a segment was not lengthened as it was asked for"};
  return o;
}

request script_gear::publish(const publication& p) {
  std::vector<std::string> keys = {filter_.keys.state(filter_.generation, p.partition),
                                   filter_.keys.segment(filter_.generation, p.added),
                                   filter_.keys.fence(filter_.generation, p.partition)};
  std::vector<std::string> arguments = {
      std::to_string(p.epoch), std::to_string(p.next_epoch), p.manifest,
      std::to_string(p.bytes), count_field(p.added),         fence::bytes_of(p.next_epoch)};
  for (const segment_id& id : p.expired) {
    keys.push_back(filter_.keys.segment(filter_.generation, id));
    arguments.push_back(count_field(id));
  }
  return call(scripts::publish(), p.partition, keys, arguments);
}

meaning script_gear::published(const publication& p, const answer& a) {
  meaning o = understand(p.partition, a);
  if (o.what == kind::done && o.text == "D1") return {kind::unmade};
  return o;
}

}  // namespace everseen::redis
