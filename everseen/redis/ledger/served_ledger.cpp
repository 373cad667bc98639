#include "everseen/redis/ledger/served_ledger.hpp"

#include <algorithm>
#include <utility>

#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/transport/drive.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"
#include "everseen/store/claims.hpp"

namespace everseen::redis {

namespace {

using reason = partition_task::reason;

/// Of the answer to HGETALL.
bool has_field(const reply& fields, std::string_view name) {
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
    if (fields[i].text() == name) return true;
  return false;
}

/// The two replies inside a transaction.    @throws backend_error, format_error
const reply& both_of(const answer& a, const std::string& state, const std::string& lanes) {
  if (!a) throw backend_error(a.error().message);
  // The first error is the cause: the last is EXECABORT.
  const auto refused = std::ranges::find_if(*a, [](const reply& r) { return r.is_error(); });
  if (refused != a->end()) throw backend_error(refused_command(state, refused->text()));
  const reply& both = a->back();
  if (both.size() != 2) throw backend_error(refused_command(state, "a transaction was not answered in full"));
  for (std::size_t i = 0; i < 2; ++i) {
    if (both[i].is_error("WRONGTYPE")) throw damaged_key(i == 0 ? state : lanes, "has another type");
    if (both[i].is_error()) throw backend_error(refused_command(state, both[i].text()));
  }
  return both;
}

}  // namespace

/// The events of one partition on their way.
struct served_ledger::part {
  claim_batch left;  ///< of which nothing is known yet
  picture known{};   ///< of the partition
  bool just_looked = false;
  int looks = 0;
  bool was_lost = false;  ///< an answer to this claim was, so it may be what judged them
  std::optional<batch_failure> failed{};

  [[nodiscard]] std::uint32_t number() const noexcept { return left.keys.partition; }
};

struct served_ledger::claiming {
  const origin& from;
  known_lane& in;
  std::vector<part> parts{};
  std::optional<batch_failure> failure{};

  /// The first failure is the one reported, unless it was only a lack of room.
  void note(batch_failure one) {
    if (!failure || (!failure->ends_batch() && one.ends_batch())) failure = std::move(one);
  }
  [[nodiscard]] const lane_record& record_of(const part& p) const { return *in.records[p.number()]; }
};

served_ledger::served_ledger(std::shared_ptr<session_pool> pool, const filter_identity& f, gear_kind commands,
                             stored_filter& by, std::string filter_name, std::string job, listed_job kept,
                             bool may_claim)
    : pool_(std::move(pool)),
      filter_(f),
      commands_(commands),
      by_(by),
      jobs_(std::move(filter_name), f),
      job_(std::move(job)),
      kept_(std::move(kept)),
      keys_(f.keys, kept_.id),
      may_claim_(may_claim),
      replicas_(pool_->url()),
      life_(f),
      lanes_(f.spec.partitions),
      pictures_(f.spec.partitions) {}

served_ledger::~served_ledger() = default;

batch_result served_ledger::claim(const origin& from, std::span<const claim_batch> batches) {
  forget_verdicts(batches);
  if (!may_claim_) return claims_result(batches, read_only_claim());
  try {
    return claims_result(batches, claim_all(from, batches));
  } catch (...) {  // the filter has ended; or the system has no more memory, or descriptors
    return claims_result(batches, batch_failure::from_current_exception());
  }
}

std::optional<batch_failure> served_ledger::claim_all(const origin& from,
                                                      std::span<const claim_batch> batches) {
  const session_pool::lease with = pool_->take();
  life_.require(*with);
  claiming c{from, lanes_[from.source]};
  {
    const std::scoped_lock alone(lock_);
    for (const claim_batch& batch : batches)
      if (!batch.positions.empty()) c.parts.push_back({batch, pictures_[batch.keys.partition]});
  }
  while (!c.parts.empty()) {
    look(*with, c);
    complete(c);
    for (part& p : c.parts)
      if (!p.failed) answer_those_judged(p.left, c.record_of(p), filter_.spec, p.known->slices, p.was_lost);
    std::erase_if(c.parts, [&](part& p) {
      if (p.failed) c.note(*std::move(p.failed));
      return p.failed || p.left.positions.empty();
    });
    std::vector<partition_task> tasks = tasks_for(c);
    const std::uint64_t lost_before = with->lost_answers();
    drive(*with, replicas_, tasks);
    if (with->lost_answers() != lost_before)
      for (part& p : c.parts) p.was_lost = true;
    take_back(c, tasks);
  }
  return std::move(c.failure);
}

bool served_ledger::must_look(const part& p, const known_lane& in) const {
  const auto& record = in.records[p.number()];
  if (!p.known || !record) return true;
  // Whether the window has left a replay, the newest picture must tell: the module moves it on without us.
  return filter_.spec.window && !p.just_looked && record->has_judged(p.left.positions.front());
}

/// Reads the state of partitions, and with it the record of the lane: so a record that does not know an event
/// and a window that has left it are of one moment.
void served_ledger::look(session& with, claiming& c) {
  std::vector<part*> blind;
  std::vector<request> requests;
  for (part& p : c.parts) {
    if (!must_look(p, c.in)) continue;
    const std::string state = filter_.keys.state(p.number());
    // One transaction, which a server without scripts knows, too.
    requests.push_back({{state, p.number()},
                        encode({"MULTI"}) + encode({"HGETALL", state}) +
                            encode({"HGET", keys_.lanes(p.number()), c.in.name}) + encode({"EXEC"}),
                        4,
                        true});
    blind.push_back(&p);
  }
  if (blind.empty()) return;
  const std::vector<answer> answers = with.exchange(requests);
  for (std::size_t i = 0; i < blind.size(); ++i) {
    try {
      take_look(*blind[i], c.in, answers[i]);
    } catch (const error&) {
      blind[i]->failed = batch_failure::from_current_exception();
    }
  }
}

void served_ledger::take_look(part& p, known_lane& in, const answer& a) const {
  const std::string state = filter_.keys.state(p.number());
  const reply& both = both_of(a, state, keys_.lanes(p.number()));
  if (both[0].size() == 0) throw filter_is_gone(state);
  remote_partition read = decode_state(filter_, p.number(), both[0]);
  if (!has_field(both[0], keys_.field())) throw jobs_.is_gone(job_);
  if (read.successor) throw filter_is_gone(state);  // by foreign hands: a filter with jobs is not rebuilt
  read.looked_at = std::chrono::steady_clock::now();
  p.known = std::make_shared<const remote_partition>(std::move(read));
  p.just_looked = true;
  in.records[p.number()] = lane_record::decode(both[1].text());
  if (has_forgotten(in, p.number())) throw has_forgotten_events(state, in.name);
  if (++p.looks == most_looks) throw claimed_by_others(in.name);
}

/// Adds the keys of replays that the record calls fresh.
void served_ledger::complete(claiming& c) {
  std::vector<fresh_replays> all;
  std::vector<std::vector<verdict>> ignored;
  std::vector<partition_batch> batches;
  all.reserve(c.parts.size());
  ignored.reserve(c.parts.size());
  for (const part& p : c.parts) {
    if (p.failed) continue;
    fresh_replays& one = all.emplace_back(p.left, c.record_of(p));
    if (one.digests.empty()) continue;
    auto& out = ignored.emplace_back(one.digests.size());
    batches.push_back({p.number(), one.digests, one.times, out});
  }
  if (batches.empty()) return;
  const batch_result added = by_.add(batches);
  if (added) return;
  for (part& p : c.parts)
    if (!p.failed) p.failed = added.error();
}

std::vector<partition_task> served_ledger::tasks_for(claiming& c) const {
  std::vector<partition_task> tasks;
  tasks.reserve(c.parts.size());
  for (part& p : c.parts) {
    auto claimed =
        std::make_unique<lane_claim>(kept_.id, c.in.name, p.left, c.from.settled, *c.in.records[p.number()]);
    tasks.emplace_back(command_set(filter_, commands_, {}, {}), partition_task::purpose::add, p.left.keys,
                       p.known, std::move(claimed));
    p.just_looked = false;
  }
  return tasks;
}

void served_ledger::take_back(claiming& c, const std::vector<partition_task>& tasks) {
  std::vector<part> again;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    part& p = c.parts[i];
    const partition_task& task = tasks[i];
    auto& record = c.in.records[p.number()];
    c.in.answered[p.number()] = std::max(c.in.answered[p.number()], record->head());
    p.known = task.known();
    const bool is_full = task.failure() && task.failure()->why == batch_failure::cause::full;
    if (task.detour() == reason::gone)
      c.note({batch_failure::cause::storage, filter_is_gone(task.place().key).what(), {}});
    else if (task.failure())
      c.note(*task.failure());
    if (!is_full && (task.failure() || task.detour() != reason::none)) {
      p.known = nullptr;  // nothing is certain
      record.reset();
    }
    if (!task.failure() && task.detour() != reason::none) {
      p.left = rest_of(p.left, task.answered());
      again.push_back(p);
    }
    const std::scoped_lock alone(lock_);
    pictures_[p.number()] = p.known;
  }
  c.parts = std::move(again);
}

bool served_ledger::settle(std::span<const checkpoint> reached) {
  return jobs_.settle(*pool_->take(), job_, kept_, reached);
}

std::map<std::string, checkpoint, std::less<>> served_ledger::checkpoints() const {
  return jobs_.checkpoints(*pool_->take(), kept_);
}

void served_ledger::visit_counters(const counter_visitor& visit) const {
  const session_pool::lease with = pool_->take();
  for (std::uint32_t p = 0; p < filter_.spec.partitions; ++p) jobs_.visit_counters(*with, p, kept_, visit);
}

}  // namespace everseen::redis
