#include "everseen/redis/ledger/module_claim_gear.hpp"

#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

using kind = meaning::kind;

request module_claim_gear::judge(const judging& q) {
  const std::string state = filter_.keys.state(q.partition);
  const std::string records = partition_keys::lane_records(state, claim_->job());
  const claim_call::link at = claim_->first_link();
  const std::string forgotten = std::to_string(at.forgotten_bytes);
  const std::string epoch = std::to_string(q.epoch);
  const std::string slice = std::to_string(q.slice);
  const std::string behind = offsets(q);
  const std::string positions = claim_->positions(q);
  const std::string each = std::to_string(claim_->counts_per_event());
  const claim_call::counting counts = claim_->counts(q);
  std::vector<std::string_view> words = {
      "EVERSEEN.CLAIM",  state,  records,   claim_->job(), claim_->lane(), at.head, forgotten, epoch, slice,
      packed(q.digests), behind, positions, each,          counts.places};
  words.insert(words.end(), counts.names.begin(), counts.names.end());
  return {{state, q.partition}, encode(words), 1, true};
}

meaning module_claim_gear::judged(const judging& q, const answer& a) {
  if (a && (a->back().text() == "P" || a->back().text() == "J")) return {kind::claimed};
  meaning o = module_gear::judged(q, a);
  if (o.what == kind::done) claim_->take(q, o.text);
  return o;
}

}  // namespace everseen::redis
