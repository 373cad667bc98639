#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "everseen/redis/journal/mirror_set.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/ledger/job_ledger.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen::redis {

namespace {

/// The ledger of a job over a filter that its clients judge.
///
/// A claim is an append that also extends the record of its lane and increments counters, in one step of the
/// server. The client names the head of the record. If the server has another head, a client has judged
/// events of the lane before, perhaps in this very claim, whose answer was lost; the record shows which were
/// fresh.
class journal_ledger final : public job_ledger {
 public:
  /// @param mirrors  must outlive the ledger
  journal_ledger(std::shared_ptr<connection_pool> pool, mirror_set& mirrors, std::string filter_name,
                 std::string job, listed_job kept, bool may_claim);

 private:
  class claiming;

  std::optional<batch_failure> claim_all(server_connections& connections, known_lane& in,
                                         const lane_progress& from,
                                         std::span<const claim_batch> batches) override;

  mirror_set& mirrors_;
};

/// Counters are incremented by one command, and Lua limits a command to fewer than 8000 words.
constexpr std::size_t most_counters_a_call = 3500;

/// The number of first events that cannot have more counters than one call may increment.
/// @param most_keys  of its record
std::size_t events_in_a_call(const claim_batch& batch, std::size_t most_keys) {
  const std::size_t most = std::min(batch.positions.size(), most_keys);
  if (batch.counts.per_event == 0 || batch.counts.names.size() <= most_counters_a_call) return most;
  return std::clamp<std::size_t>(most_counters_a_call / batch.counts.per_event, 1, most);
}

}  // namespace

/// The events of one partition on their way.
///
///     read the record ──> replays: their verdicts from it, their keys added again ──> the rest: claimed
///           ^                                                                              │
///           └────────────────────── the lane has another head ─────────────────────────────┘
class journal_ledger::claiming final : public mirror_task {
 public:
  claiming(partition_mirror& mirror, journal_ledger& ledger, known_lane& in, const lane_progress& from,
           const claim_batch& batch)
      : mirror_task(mirror), ledger_(ledger), in_(in), settled_(from.settled), left_(batch) {}

 private:
  [[nodiscard]] std::optional<lane_record>& record() const noexcept { return in_.records[mirror().number()]; }

  std::optional<script_call> go_on(server_connections& connections) override {
    if (!record()) read_record(connections);
    if (auto call = add_again(connections)) return call;
    answer_those_judged(left_, *record(), ledger_.filter().spec, mirror().state().slices, was_sent_);
    if (left_.positions.empty()) return std::nullopt;
    claim_batch part = left_;
    const std::size_t events = events_in_a_call(left_, most_keys(connections));
    part.keys.digests = part.keys.digests.first(events);
    part.keys.out = part.keys.out.first(events);
    if (part.keys.times.size() > 1) part.keys.times = part.keys.times.first(events);
    reach_ = mirror().prepare(part.keys, predictor::no_room::ends);
    is_claim_ = true;
    if (reach_.judged > 0) return claim_call();
    done();
    return std::nullopt;
  }

  void read_record(server_connections& connections) {
    const std::uint32_t number = mirror().number();
    const auto answers = exchange_all(connections, {ledger_.request_for_record(in_, number)});
    ledger_.take_record(connections, in_, number, answers.front()->front().text(), looks_);
  }

  /// Adds the keys of replays that the record calls fresh, unless they are there. Another client with an old
  /// copy of the record may not have the keys yet.
  std::optional<script_call> add_again(const server_connections& connections) {
    const fresh_replays all(left_, *record());
    for (std::size_t from = 0; from < all.digests.size();) {
      const std::size_t count = std::min(all.digests.size() - from, most_keys(connections));
      std::vector<verdict> ignored(count);
      const prediction p = mirror().prepare(
          {mirror().number(), std::span(all.digests).subspan(from, count),
           all.times.empty() ? std::span<const event_time>() : std::span(all.times).subspan(from, count),
           ignored},
          predictor::no_room::skips);
      if (mirror().has_record()) {
        is_claim_ = false;
        return mirror().append_call();
      }
      from += p.judged;
    }
    return std::nullopt;
  }

  script_call claim_call() {
    script_call call = mirror().append_call();
    is_long_ = !call.staged.key.empty();
    call.staged.key.clear();
    call.keys.insert(call.keys.begin() + 2, ledger_.keys().lanes(mirror().number()));
    lane_record& current = *record();
    std::string head = current.head();
    const std::size_t kept_from = head.size() + current.settled_before(settled_) * position_bytes + 1;
    std::string new_head;
    std::string fresh;
    append_position(new_head, left_.positions[reach_.judged - 1]);
    std::unordered_map<std::uint32_t, std::uint64_t> raised;
    const std::size_t each = left_.counts.per_event;
    for (std::size_t i = 0; i < reach_.judged; ++i) {
      // Increments by 0 if an event is not fresh: in a torn log it may have been fresh, and its counter must
      // then be written as it is now (doc/redis.md, "A torn AOF").
      const bool is_fresh = left_.keys.out[i] == verdict::fresh;
      if (is_fresh) append_position(fresh, left_.positions[i]);
      for (const std::uint32_t name : left_.counts.of_event.subspan(i * each, each)) raised[name] += is_fresh;
    }
    call.arguments.insert(call.arguments.end(),
                          {ledger_.keys().field(), in_.name, std::move(head), std::to_string(kept_from),
                           std::move(new_head), std::move(fresh)});
    for (const auto& [name, amount] : raised) {
      call.arguments.emplace_back(left_.counts.names[name]);
      call.arguments.push_back(std::to_string(amount));
    }
    return call;
  }

  void done() override {
    if (!is_claim_) return;  // keys of replays: looked at again, and found
    lane_record& lane = *record();
    lane.forget(settled_);
    for (std::size_t i = 0; i < reach_.judged; ++i)
      lane.note(left_.positions[i], left_.keys.out[i] == verdict::fresh);
    in_.answered[mirror().number()] = lane.head();
    left_ = rest_of(left_, reach_.judged);
    is_claim_ = false;
    if (reach_.full) {
      fail(*std::move(reach_.full));
      left_ = rest_of(left_, left_.positions.size());
    }
  }

  void take_other(server_connections& connections, const reply& r) override {
    if (r[0].text() == "H") {
      record().reset();
      was_sent_ = was_sent_ || has_lost_answers(connections);
      forget_rest();
    } else if (r[0].text() == "J") {
      throw ledger_.is_gone();
    } else {
      mirror_task::take_other(connections, r);
    }
  }

  /// The script's arguments are as long as the record, so it is not sent alone: shorter claims are made.
  bool looks_again() noexcept override {
    if (!is_claim_ || !is_long_) return false;
    record().reset();
    was_sent_ = true;
    forget_rest();
    return true;
  }

  void forget_rest() noexcept { std::ranges::fill(left_.keys.out, verdict::unknown); }

  /// Nothing is certain about events without an answer.
  void give_up() noexcept override {
    record().reset();
    forget_rest();
  }

  journal_ledger& ledger_;
  known_lane& in_;
  const std::uint64_t settled_;
  claim_batch left_;  // of which nothing is known yet
  prediction reach_{};
  bool is_claim_ = false;  // the call under way
  bool is_long_ = false;   // it has a record of its own chunk
  bool was_sent_ = false;  // an answer was lost, so this claim may be what judged events
  int looks_ = 0;
};

journal_ledger::journal_ledger(std::shared_ptr<connection_pool> pool, mirror_set& mirrors,
                               std::string filter_name, std::string job, listed_job kept, bool may_claim)
    : job_ledger(std::move(pool), mirrors.filter(), std::move(filter_name), std::move(job), std::move(kept),
                 may_claim),
      mirrors_(mirrors) {}

std::optional<batch_failure> journal_ledger::claim_all(server_connections& connections, known_lane& in,
                                                       const lane_progress& from,
                                                       std::span<const claim_batch> batches) {
  std::vector<std::uint32_t> partitions;
  for (const claim_batch& batch : batches) partitions.push_back(batch.keys.partition);
  return mirrors_.run(connections, partitions, [&](std::size_t i, partition_mirror& mirror) {
    return std::make_unique<claiming>(mirror, *this, in, from, batches[i]);
  });
}

std::unique_ptr<ledger> open_journal_ledger(std::shared_ptr<connection_pool> pool, mirror_set& mirrors,
                                            std::string filter_name, std::string job, listed_job kept,
                                            bool may_claim) {
  return std::make_unique<journal_ledger>(std::move(pool), mirrors, std::move(filter_name), std::move(job),
                                          std::move(kept), may_claim);
}

}  // namespace everseen::redis
