#include "everseen/redis/script_claim_gear.hpp"

#include "everseen/redis/claim_scripts.hpp"
#include "everseen/redis/positions.hpp"

namespace everseen::redis {

using kind = meaning::kind;

request script_claim_gear::judge(const judging& q) {
  const std::string state = filter_.keys.state(filter_.generation, q.partition);
  const judging::target& written = q.targets.back();
  const bool limited = filter_.spec.growth != growth_kind::overfill;
  const claim_call::counting counts = claim_->counts(q);
  std::vector<std::string> keys = {state, partition_keys::lane_records(state, claim_->job()),
                                   partition_keys::counters(state, claim_->job())};
  std::vector<std::string> arguments = {std::to_string(q.epoch),
                                        claim_->lane(),
                                        claim_->expected(),
                                        std::to_string(claim_->forgotten_bytes() + 1),
                                        std::string(partition_keys::job_field) + claim_->job(),
                                        count_field(written.id),
                                        limited ? std::to_string(written.layer.capacity) : "",
                                        filter_.spec.growth == growth_kind::refuse ? "1" : "0",
                                        claim_->positions(q),
                                        counts.places,
                                        std::to_string(claim_->counts_per_event()),
                                        std::to_string(q.digests.size())};
  for (const judging::target& t : q.targets) {
    keys.push_back(filter_.keys.segment(filter_.generation, t.id));
    arguments.push_back(std::to_string(t.layer.shape.bytes));
  }
  const unsigned probes = written.layer.shape.probes;
  for (const judging::target& t : q.targets)
    arguments.push_back(pack_positions(t.layer.shape, q.digests, probes));
  arguments.insert(arguments.end(), counts.names.begin(), counts.names.end());
  return call(scripts::claim(probes), q.partition, keys, arguments);
}

meaning script_claim_gear::judged(const judging& q, const answer& a) {
  meaning o = understand(q.partition, a);
  if (o.what == kind::forbidden)
    return {kind::refused, "a job needs scripts (EVAL), or the everseen module: " + o.text};
  if (o.what == kind::done && o.text == "P") return {kind::claimed};
  o = verdicts_in(q, a, std::move(o));
  if (o.what == kind::done) claim_->take(q, o.text);
  return o;
}

}  // namespace everseen::redis
