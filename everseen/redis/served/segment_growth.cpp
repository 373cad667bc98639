#include "everseen/redis/served/segment_growth.hpp"

#include <algorithm>

#include "everseen/redis/served/served_scripts.hpp"

namespace everseen::redis {

using kind = meaning::kind;

request segment_growth::lengthen(const lengthening& l) const {
  return script_.call(
      scripts::lengthen(), l.id.partition,
      {{filter_.keys.state(l.id.partition), filter_.keys.segment(l.id)},
       {std::to_string(l.epoch), std::to_string(l.bytes), std::string(partition_keys::unpublished_life_ms)}});
}

meaning segment_growth::lengthened(const lengthening& l, const answer& a) {
  meaning o = script_.understand(l.id.partition, a);
  if (o.what != kind::done) return o;
  o.length = static_cast<std::uint64_t>(std::max<std::int64_t>(a->back().integer(), 0));
  if (o.length < l.bytes) return {kind::refused, "a segment was not lengthened as it was asked for"};
  return o;
}

request segment_growth::publish(const publication& p) const {
  partition_script::words w = {{filter_.keys.state(p.partition), filter_.keys.segment(p.added)},
                               {std::to_string(p.epoch), std::to_string(p.next_epoch), p.manifest,
                                std::to_string(p.bytes), count_field(p.added)}};
  for (const segment_id& id : p.expired) {
    w.keys.push_back(filter_.keys.segment(id));
    w.arguments.push_back(count_field(id));
  }
  return script_.call(scripts::publish(), p.partition, w);
}

meaning segment_growth::published(const publication& p, const answer& a) {
  meaning o = script_.understand(p.partition, a);
  if (o.what == kind::done && o.text == "D1") return {kind::unmade};
  return o;
}

}  // namespace everseen::redis
