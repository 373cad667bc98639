#include "everseen/redis/ledger/job_ledger.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "everseen/core/spec/window.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen::redis {

namespace {

constexpr int most_looks = 1000;  // another client always claims first: then something is broken

}  // namespace

job_ledger::job_ledger(std::shared_ptr<connection_pool> pool, const filter_identity& f,
                       std::string filter_name, std::string job, listed_job kept, bool may_claim)
    : pool_(std::move(pool)),
      filter_(f),
      jobs_(std::move(filter_name), f),
      job_(std::move(job)),
      kept_(std::move(kept)),
      keys_(f.keys, kept_.id),
      may_claim_(may_claim) {}

batch_result job_ledger::claim(const lane_progress& from, std::span<const claim_batch> batches) {
  forget_verdicts(batches);
  if (!may_claim_) return claims_result(batches, read_only_claim());
  try {
    const connection_pool::lease connections = pool_->take();
    return claims_result(batches, claim_all(*connections, lane_of(from.lane), from, batches));
  } catch (...) {  // the filter has expired, or the system has run out of memory or descriptors
    return claims_result(batches, batch_failure::from_current_exception());
  }
}

known_lane& job_ledger::lane_of(std::string_view lane) {
  const std::scoped_lock alone(lock_);
  auto found = lanes_.find(lane);
  if (found == lanes_.end()) {
    auto made = std::make_unique<known_lane>(known_lane{std::string(lane)});
    made->records.resize(filter_.spec.partitions);
    made->answered.resize(filter_.spec.partitions);
    found = lanes_.emplace(std::string(lane), std::move(made)).first;
  }
  return *found->second;
}

request job_ledger::request_for_record(const known_lane& in, std::uint32_t partition) const {
  const std::string lanes = keys_.lanes(partition);
  request r{{lanes, partition}, encode({"HGET", lanes, in.name}), 1, true};
  r.on_replicas = true;  // another client may have claimed them, and replicas may lack that
  return r;
}

void job_ledger::take_record(server_connections& connections, known_lane& in, std::uint32_t partition,
                             std::string_view record, int& looks) const {
  in.records[partition] = lane_record::decode(record);
  if (++looks == most_looks)
    throw backend_error("another process claims the events of '" + in.name +
                        "' for the same job faster than this process; end one of the two");
  // Heads sort as positions do, and a record never loses positions by itself.
  if (in.records[partition]->head() >= in.answered[partition]) return;
  const auto listed = jobs_.find(connections, job_);
  if (!listed || listed->id != kept_.id) throw is_gone();
  throw format_error("the server of '" + keys_.lanes(partition) + "' has forgotten events of '" + in.name +
                     "' that it had acknowledged: it was restarted without 'appendfsync always', or a "
                     "replica that lagged took its place. Counters may be too low: count again from the "
                     "beginning, into a new filter");
}

bool job_ledger::settle(std::span<const checkpoint> reached) {
  return jobs_.settle(*pool_->take(), job_, kept_, reached);
}

std::map<std::string, checkpoint, std::less<>> job_ledger::checkpoints() const {
  return jobs_.checkpoints(*pool_->take(), kept_);
}

void job_ledger::visit_counters(const counter_visitor& visit) const {
  const connection_pool::lease connections = pool_->take();
  for (std::uint32_t p = 0; p < filter_.spec.partitions; ++p)
    jobs_.visit_counters(*connections, p, kept_, visit);
}

fresh_replays::fresh_replays(const claim_batch& batch, const lane_record& record) {
  for (std::size_t i = 0; i < batch.positions.size() && record.has_judged(batch.positions[i]); ++i) {
    if (!record.was_fresh(batch.positions[i])) continue;
    digests.push_back(batch.keys.digests[i]);
    if (!batch.keys.times.empty()) times.push_back(batch.keys.times[batch.keys.times.size() == 1 ? 0 : i]);
  }
}

void answer_those_judged(claim_batch& left, const lane_record& record, const spec& s,
                         std::span<const slice_state> slices, bool is_ours) {
  const auto claimed_before = left.claimed_before;
  answer_replays(left, record, [&](event_time t) {
    return s.window && !slices.empty() &&
           window::slice_at(*s.window, t) < window::oldest_live(*s.window, slices.back().index);
  });
  // Those that this claim judged itself were not claimed before it.
  const std::size_t judged = claimed_before.size() - left.claimed_before.size();
  if (is_ours) std::ranges::fill(claimed_before.first(judged), std::uint8_t{0});
}

}  // namespace everseen::redis
