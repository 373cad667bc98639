#include "everseen/redis/ledger/script_claim_gear.hpp"

#include <algorithm>

#include "everseen/redis/ledger/claim_scripts.hpp"

namespace everseen::redis {

using kind = meaning::kind;

namespace {

judging part_of(const judging& q, std::size_t from, std::size_t at_once) {
  judging part = q;
  const std::size_t count = std::min(at_once, q.digests.size() - from);
  part.digests = q.digests.subspan(from, count);
  part.first = q.first + from;
  if (q.slices.empty()) return part;
  const auto begin = q.slices.begin() + static_cast<std::ptrdiff_t>(from);
  part.slices.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  return part;
}

}  // namespace

/// About a thousand, a few milliseconds of the server's time, and no small rest: what a call costs beside its
/// events is mostly that it raises each counter that occurs in it. These are one command, and Lua gives a
/// command fewer than 8000 words.
std::size_t script_claim_gear::events_a_call(const judging& q) const noexcept {
  const std::size_t about =
      std::max<std::size_t>(1, 2000 / std::max<std::size_t>(2, claim_->counts_per_event()));
  const std::size_t calls = std::max<std::size_t>(1, (q.digests.size() + about / 2) / about);
  return (q.digests.size() + calls - 1) / calls;
}

request script_claim_gear::judge(const judging& q) {
  request all{{filter_.keys.state(q.partition), q.partition}, {}, 0, true};
  claim_call::link next = claim_->first_link();
  all.what = &scripts::claim(probes_of(q));
  for (std::size_t from = 0; from < q.digests.size(); from += events_a_call(q)) {
    const judging part = part_of(q, from, events_a_call(q));
    const partition_script::words w = words_of(part, next);
    all.wire += encode_call(*all.what, w.keys, w.arguments);
    ++all.commands;
    next = claim_->link_behind(part);
  }
  return all;
}

partition_script::words script_claim_gear::words_of(const judging& q, const claim_call::link& at) const {
  const std::string state = filter_.keys.state(q.partition);
  const claim_call::counting counts = claim_->counts(q);
  partition_script::words w = {
      {state, partition_keys::lane_records(state, claim_->job())},
      {std::to_string(q.epoch), claim_->lane(), at.head, std::to_string(at.forgotten_bytes + 1),
       partition_keys::job_field(claim_->job()), filter_.spec.growth == growth_kind::refuse ? "1" : "0",
       claim_->positions(q), counts.places, std::to_string(claim_->counts_per_event())}};
  append_keys(w, q);
  w.arguments.insert(w.arguments.end(), counts.names.begin(), counts.names.end());
  return w;
}

meaning script_claim_gear::judged(const judging& q, const answer& a) {
  if (!a) return {kind::lost, a.error().message};
  meaning all{kind::done};
  for (std::size_t i = 0; i < a->size(); ++i) {
    const judging part = part_of(q, i * events_a_call(q), events_a_call(q));
    meaning o = judged_part(part, (*a)[i]);
    if (o.what != kind::done) return i == 0 ? o : all;
    all.text += o.text;
    all.wants_growth = o.wants_growth;
    if (o.text.size() < part.digests.size()) break;
  }
  return all;
}

meaning script_claim_gear::judged_part(const judging& part, const reply& r) {
  meaning o = script_.understand(part.partition, r);
  if (o.what != kind::done) return o;
  if (o.text == "P" || o.text == "J") return {kind::claimed};
  o = verdicts_in(part, r, std::move(o));
  if (o.what == kind::done) claim_->take(part, o.text);
  return o;
}

}  // namespace everseen::redis
