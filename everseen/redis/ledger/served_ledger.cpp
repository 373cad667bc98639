#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/ledger/job_ledger.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/served/packed_keys.hpp"
#include "everseen/redis/served/partition_task.hpp"
#include "everseen/redis/served/stored_value.hpp"
#include "everseen/redis/transport/call.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen::redis {

namespace {

/// The ledger of a job over a filter that its servers judge: beside each partition, a hash with a record per
/// lane and the counters; the checkpoints are on the first server.
///
/// The client keeps a copy of each record that it has read or written, and each call names the head of the
/// expected one. A call whose answer was lost and a call that came after another client's are therefore
/// handled alike: the record is read again and shows what became of the events. Events that the record has
/// judged are never sent: a call writes the record and adds the keys in one step, which replicas and an AOF
/// get as one command.
class served_ledger final : public job_ledger {
 public:
  /// @param f  must outlive the ledger
  served_ledger(std::shared_ptr<connection_pool> pool, const filter_identity& f, std::string filter_name,
                std::string job, listed_job kept, bool may_claim);

 private:
  class claim_task;

  std::optional<batch_failure> claim_all(server_connections& connections, known_lane& in,
                                         const lane_progress& from,
                                         std::span<const claim_batch> batches) override;

  filter_life life_;
};

batch_failure batch_failure_of(const storage_error& e) {
  return {batch_failure::cause::storage, e.what(), {}, e.code(), e.path()};
}

}  // namespace

/// The events of one partition on their way, for drive().
///
///     look ──> replays: their verdicts from the record ──> the rest: claimed
///      ^                                                        │
///      └──────────── the lane's record has another head ────────┘
class served_ledger::claim_task {
 public:
  claim_task(const served_ledger& ledger, server_connections& connections, known_lane& in,
             const lane_progress& from, const claim_batch& batch)
      : ledger_(ledger),
        connections_(connections),
        in_(in),
        settled_(from.settled),
        lost_before_(connections.lost_answers()),
        left_(batch) {
    if (!must_look()) claim_rest({});
  }

  [[nodiscard]] bool done() const noexcept { return failure_ || left_.positions.empty(); }
  [[nodiscard]] request next() { return calls_ ? calls_->next() : ask_to_look(); }
  void take(const answer& a) {
    if (!calls_) return take_look(a);
    calls_->take(a);
    if (calls_->done()) end_calls();
  }
  [[nodiscard]] bool adds_next() const noexcept { return !calls_ || calls_->adds_next(); }
  [[nodiscard]] const std::optional<batch_failure>& failure() const noexcept { return failure_; }

 private:
  [[nodiscard]] std::uint32_t number() const noexcept { return left_.keys.partition; }
  [[nodiscard]] std::optional<lane_record>& record() const noexcept { return in_.records[number()]; }
  [[nodiscard]] const filter_identity& filter() const noexcept { return ledger_.filter(); }

  /// Whether the window has left a replay depends on the newest state.
  [[nodiscard]] bool must_look() const {
    return !record() || (filter().spec.window && record()->has_judged(left_.positions.front()));
  }

  /// The record is read before the state, which is therefore as new or newer.
  [[nodiscard]] request ask_to_look() const {
    request r = ledger_.request_for_record(in_, number());
    if (!filter().spec.window) return r;
    r.wire += question_about_value(filter(), number()).wire;
    r.commands = 2;
    return r;
  }

  void take_look(const answer& a) {
    try {
      if (!a) throw backend_error(a.error().message);
      const reply& lane = a->front();
      const std::string key = ledger_.keys().lanes(number());
      if (lane.is_error("WRONGTYPE")) throw damaged_key(key, "has another type");
      if (lane.is_error()) throw backend_error(refused_command(key, lane.text()));
      ledger_.take_record(connections_, in_, number(), lane.text(), looks_);
      claim_rest(filter().spec.window ? value_in(filter(), number(), a).state.slices
                                      : std::vector<slice_state>());
    } catch (const error&) {
      fail(batch_failure::from_current_exception());
    }
  }

  void claim_rest(std::span<const slice_state> slices) {
    answer_those_judged(left_, *record(), filter().spec, slices, connections_.lost_answers() != lost_before_);
    if (done()) return;
    calls_.emplace(packed_commands(filter(), connections_.name(), answers_kept_in_an_outage),
                   partition_task::purpose::add, left_.keys,
                   std::make_unique<lane_claim>(ledger_.keys().id(), in_.name, left_, settled_, *record()));
  }

  void end_calls() {
    in_.answered[number()] = std::max(in_.answered[number()], record()->head());
    using reason = partition_task::reason;
    if (calls_->detour() == reason::ended) return fail(batch_failure_of(ledger_.is_gone()));
    if (calls_->detour() ==
        reason::sealed)  // by another program: everseen does not rebuild a filter with jobs
      return fail(batch_failure_of(filter_is_gone(filter().keys.state(number()))));
    if (calls_->failure()) return fail(*calls_->failure());
    left_ = rest_of(left_, calls_->answered());
    calls_.reset();
    if (!done()) record().reset();  // nothing is certain about it
  }

  void fail(batch_failure why) {
    if (why.why != batch_failure::cause::full) record().reset();
    failure_ = std::move(why);
  }

  const served_ledger& ledger_;
  server_connections& connections_;
  known_lane& in_;
  const std::uint64_t settled_;
  const std::uint64_t lost_before_;        // answers of the connections, before this claim
  claim_batch left_;                       // of which nothing is known yet
  std::optional<partition_task> calls_{};  // under way; none: the lane is to be read
  int looks_ = 0;
  std::optional<batch_failure> failure_{};
};

served_ledger::served_ledger(std::shared_ptr<connection_pool> pool, const filter_identity& f,
                             std::string filter_name, std::string job, listed_job kept, bool may_claim)
    : job_ledger(std::move(pool), f, std::move(filter_name), std::move(job), std::move(kept), may_claim),
      life_(f) {}

std::optional<batch_failure> served_ledger::claim_all(server_connections& connections, known_lane& in,
                                                      const lane_progress& from,
                                                      std::span<const claim_batch> batches) {
  life_.require(connections);
  std::vector<claim_task> tasks;
  tasks.reserve(batches.size());
  for (const claim_batch& batch : batches)
    if (!batch.positions.empty()) tasks.emplace_back(*this, connections, in, from, batch);
  drive(connections, tasks);
  std::optional<batch_failure> first;
  for (const claim_task& task : tasks) {
    const auto& one = task.failure();
    if (one && (!first || (!first->ends_batch() && one->ends_batch()))) first = one;
  }
  return first;
}

std::unique_ptr<ledger> open_served_ledger(std::shared_ptr<connection_pool> pool, const filter_identity& f,
                                           std::string filter_name, std::string job, listed_job kept,
                                           bool may_claim) {
  return std::make_unique<served_ledger>(std::move(pool), f, std::move(filter_name), std::move(job),
                                         std::move(kept), may_claim);
}

}  // namespace everseen::redis
