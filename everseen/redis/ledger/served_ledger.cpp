#include "everseen/redis/ledger/served_ledger.hpp"

#include <algorithm>
#include <utility>

#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/script/sequence.hpp"
#include "everseen/redis/served/lane_claim.hpp"
#include "everseen/redis/served/partition_task.hpp"
#include "everseen/redis/transport/drive.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/port/claims.hpp"

namespace everseen::redis {

namespace {

batch_failure batch_failure_of(const storage_error& e) {
  return {batch_failure::cause::storage, e.what(), {}, e.code(), e.path()};
}

}  // namespace

/// The events of one partition on their way, for drive().
///
///     look ──> replays: verdicts from the record, fresh keys added again ──> the rest: claimed
///      ^                                                                            │
///      └──────────────── the lane's record has another head ────────────────────────┘
class served_ledger::claim_task {
 public:
  claim_task(const served_ledger& of, session& with, known_lane& in, const origin& from,
             const claim_batch& batch, std::shared_ptr<const remote_partition> known)
      : of_(of),
        with_(with),
        in_(in),
        settled_(from.settled),
        lost_before_(with.lost_answers()),
        left_(batch),
        known_(std::move(known)) {
    if (!must_look()) add_replays();
  }

  [[nodiscard]] bool done() const noexcept { return failure_ || left_.positions.empty(); }
  [[nodiscard]] request next() { return calls_ ? calls_->next() : ask_to_look(); }
  void take(const answer& a) {
    if (!calls_) return take_look(a);
    calls_->take(a);
    if (calls_->done()) end_calls();
  }
  [[nodiscard]] bool adds_next() const noexcept { return calls_ && calls_->adds_next(); }
  [[nodiscard]] route place() const { return {of_.filter().keys.state(number()), number()}; }

  [[nodiscard]] std::uint32_t number() const noexcept { return left_.keys.partition; }
  [[nodiscard]] const std::shared_ptr<const remote_partition>& known() const noexcept { return known_; }
  [[nodiscard]] const std::optional<batch_failure>& failure() const noexcept { return failure_; }

 private:
  [[nodiscard]] std::optional<lane_record>& record() const noexcept { return in_.records[number()]; }
  [[nodiscard]] const filter_identity& filter() const noexcept { return of_.filter(); }

  [[nodiscard]] bool must_look() const {
    if (!known_ || !record()) return true;
    // Whether the window has left a replay depends on the newest state: the module moves the window by
    // itself.
    return filter().spec.window && record()->has_judged(left_.positions.front());
  }

  /// The record is read before the state, which is therefore as new or newer.
  [[nodiscard]] request ask_to_look() const {
    const route at = place();
    return {at, encode({"HGET", of_.keys().lanes(number()), in_.name}) + encode({"HGETALL", at.key}), 2,
            true};
  }

  void take_look(const answer& a) {
    if (!a) return fail(*call_result::failed(a.error().message).failure);
    const reply &lane = a->front(), &state = a->back();
    if (lane.is_error()) return fail(*call_result::refused(of_.keys().lanes(number()), lane).failure);
    if (state.is_error()) return fail(*call_result::refused(place().key, state).failure);
    try {
      if (state.size() == 0) throw filter_is_gone(place().key);
      known_ = std::make_shared<const remote_partition>(decode_state(filter(), number(), state));
      of_.take_record(with_, in_, number(), lane.text(), looks_);
    } catch (const error&) {
      return fail(batch_failure::from_current_exception());
    }
    add_replays();
  }

  [[nodiscard]] command_set commands() const {
    return {filter(), of_.commands_, with_.name(), answers_kept_in_an_outage};
  }

  void add_replays() {
    replays_.emplace(left_, *record());
    if (replays_->digests.empty()) return claim_rest();
    ignored_.resize(replays_->digests.size());
    call(partition_task(commands(), partition_task::purpose::add,
                        {number(), replays_->digests, replays_->times, ignored_}, known_));
  }

  void claim_rest() {
    replays_.reset();
    calls_.reset();
    answer_those_judged(left_, *record(), filter().spec, known_->slices,
                        with_.lost_answers() != lost_before_);
    if (done()) return;
    call(partition_task(commands(), partition_task::purpose::add, left_.keys, known_,
                        std::make_unique<lane_claim>(of_.keys().id(), in_.name, left_, settled_, *record())));
  }

  void call(partition_task calls) {
    calls_.emplace(std::move(calls));
    if (calls_->done()) end_calls();
  }

  void end_calls() {
    known_ = calls_->known();
    if (!replays_) in_.answered[number()] = std::max(in_.answered[number()], record()->head());
    using reason = partition_task::reason;
    if (calls_->detour() == reason::ended) return fail(batch_failure_of(of_.is_gone()));
    if (calls_->detour() ==
        reason::sealed)  // by another program: everseen does not rebuild a filter with jobs
      return fail(batch_failure_of(filter_is_gone(place().key)));
    if (calls_->failure()) return fail(*calls_->failure());
    if (replays_) return claim_rest();
    left_ = rest_of(left_, calls_->answered());
    calls_.reset();
    if (!done()) forget();
  }

  void fail(batch_failure why) {
    if (replays_ || why.why != batch_failure::cause::full) forget();
    failure_ = std::move(why);
  }
  /// Nothing is certain.
  void forget() {
    known_ = nullptr;
    record().reset();
  }

  const served_ledger& of_;
  session& with_;
  known_lane& in_;
  const std::uint64_t settled_;
  const std::uint64_t lost_before_;  // answers of the session, before this claim
  claim_batch left_;                 // of which nothing is known yet
  std::shared_ptr<const remote_partition> known_;
  std::optional<fresh_replays> replays_{};  // being added
  std::vector<verdict> ignored_{};          // of the replays
  std::optional<partition_task> calls_{};   // under way; none: the lane is to be read
  int looks_ = 0;
  std::optional<batch_failure> failure_{};
};

served_ledger::served_ledger(std::shared_ptr<session_pool> pool, const filter_identity& f,
                             command_kind commands, std::string filter_name, std::string job, listed_job kept,
                             bool may_claim)
    : job_ledger(std::move(pool), f, std::move(filter_name), std::move(job), std::move(kept), may_claim),
      commands_(commands),
      life_(f),
      known_(f.spec.partitions) {}

std::optional<batch_failure> served_ledger::claim_all(session& with, known_lane& in, const origin& from,
                                                      std::span<const claim_batch> batches) {
  life_.require(with);
  std::vector<claim_task> tasks;
  tasks.reserve(batches.size());
  {
    const std::scoped_lock alone(lock_);
    for (const claim_batch& batch : batches)
      if (!batch.positions.empty())
        tasks.emplace_back(*this, with, in, from, batch, known_[batch.keys.partition]);
  }
  drive(with, tasks);
  std::optional<batch_failure> first;
  const std::scoped_lock alone(lock_);
  for (const claim_task& task : tasks) {
    known_[task.number()] = task.known();
    const auto& one = task.failure();
    if (one && (!first || (!first->ends_batch() && one->ends_batch()))) first = one;
  }
  return first;
}

}  // namespace everseen::redis
