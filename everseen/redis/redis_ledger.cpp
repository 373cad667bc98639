#include "everseen/redis/redis_ledger.hpp"

#include <algorithm>
#include <utility>

#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/claim_call.hpp"
#include "everseen/redis/drive.hpp"
#include "everseen/redis/job_counters.hpp"
#include "everseen/redis/jobs.hpp"
#include "everseen/redis/module_claim_gear.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/script_claim_gear.hpp"
#include "everseen/store/claims.hpp"

namespace everseen::redis {

namespace {

using reason = partition_task::reason;

/// Somebody else claims the same lane and wins every race: then something is broken.
constexpr int max_looks = 1000;

}  // namespace

/// By partition, the client's copy of the lane's record; nothing where it is to be read.
struct redis_ledger::lane {
  std::string name;
  std::vector<std::optional<lane_record>> records;
  std::vector<std::string> answered;  ///< by partition, the head of the record when the server last answered
};

/// The events of one partition on their way.
struct redis_ledger::part {
  claim_batch left;  ///< of which nothing is known yet
  picture known{};   ///< of the partition
  bool just_looked = false;
  int looks = 0;
  bool was_lost = false;  ///< an answer to this claim was, so it may be what judged them
  std::optional<batch_failure> failed{};
};

/// Those of a part's events that its record has judged, and calls fresh.
struct redis_ledger::fresh_replays {
  fresh_replays(const claim_batch& of, const lane_record& record) : partition(of.keys.partition) {
    for (std::size_t i = 0; i < of.positions.size() && record.has_judged(of.positions[i]); ++i) {
      if (!record.was_fresh(of.positions[i])) continue;
      digests.push_back(of.keys.digests[i]);
      if (!of.keys.times.empty()) times.push_back(of.keys.times[of.keys.times.size() == 1 ? 0 : i]);
    }
    verdicts.resize(digests.size());
  }
  [[nodiscard]] partition_batch batch() { return {partition, digests, times, verdicts}; }

  std::uint32_t partition;
  std::vector<digest> digests{};
  std::vector<event_time> times{};
  std::vector<verdict> verdicts{};
};

struct redis_ledger::claiming {
  const origin& from;
  lane& in;
  std::vector<part> parts{};
  std::optional<batch_failure> failure{};

  /// The first failure is the one reported, unless it was only a lack of room.
  void note(batch_failure one) {
    if (!failure || (!failure->ends_batch() && one.ends_batch())) failure = std::move(one);
  }
};

redis_ledger::redis_ledger(std::shared_ptr<session_pool> pool, remote_filter f, gear_kind gear,
                           std::string job, std::string kept, bool may_claim)
    : pool_(std::move(pool)),
      filter_(std::move(f)),
      gear_(gear),
      job_(std::move(job)),
      kept_(std::move(kept)),
      description_(description_in(kept_)),
      may_claim_(may_claim),
      replicas_(pool_->url()),
      generations_(pool_, filter_, gear_),
      pictures_(filter_.spec.partitions) {}

redis_ledger::~redis_ledger() = default;

redis_ledger::lane& redis_ledger::lane_of(std::string_view source) {
  const std::scoped_lock alone(lock_);
  auto found = lanes_.find(source);
  if (found == lanes_.end()) {
    auto made = std::make_unique<lane>(lane{std::string(source), {}, {}});
    made->records.resize(filter_.spec.partitions);
    made->answered.resize(filter_.spec.partitions);
    found = lanes_.emplace(std::string(source), std::move(made)).first;
  }
  return *found->second;
}

batch_result redis_ledger::claim(const origin& from, std::span<const claim_batch> batches) {
  forget_verdicts(batches);
  if (!may_claim_) return claims_result(batches, read_only_claim());
  try {
    return claims_result(batches, claim_all(from, batches));
  } catch (...) {  // the system has no more memory, or descriptors
    return claims_result(batches, batch_failure::from_current_exception());
  }
}

std::optional<batch_failure> redis_ledger::claim_all(const origin& from,
                                                     std::span<const claim_batch> batches) {
  const session_pool::lease with = pool_->take();
  claiming c{from, lane_of(from.source)};
  {
    const std::scoped_lock alone(lock_);
    for (const claim_batch& batch : batches)
      if (!batch.positions.empty()) c.parts.push_back({batch, pictures_[batch.keys.partition]});
  }
  while (!c.parts.empty()) {
    look(*with, c);
    complete(*with, c);
    for (part& p : c.parts)
      if (!p.failed) resolve(p, c.in);
    std::erase_if(c.parts, [&](part& p) {
      if (p.failed) c.note(*std::move(p.failed));
      return p.failed || p.left.positions.empty();
    });
    std::vector<partition_task> tasks = tasks_for(c);
    const std::uint64_t lost_before = with->lost_answers();
    drive(*with, replicas_, tasks);
    if (with->lost_answers() != lost_before)
      for (part& p : c.parts) p.was_lost = true;
    take_back(*with, c, tasks);
  }
  return std::move(c.failure);
}

/// Reads the state of partitions, and with it the record of the lane: so a record that does not know an event
/// and a window that has left it are of one moment.
void redis_ledger::look(session& with, claiming& c) {
  std::vector<part*> blind;
  std::vector<request> requests;
  for (part& p : c.parts) {
    const std::uint32_t number = p.left.keys.partition;
    const auto& record = c.in.records[number];
    // Whether the window has left a replay, the newest picture must tell: the module moves it on without us.
    const bool is_replay = record && record->has_judged(p.left.positions.front());
    const bool is_dim = is_replay && filter_.spec.window && !p.just_looked;
    if (p.known && record && !is_dim) continue;
    const std::string state = filter_.keys.state(filter_.generation, number);
    // One transaction, which a server without scripts knows, too.
    requests.push_back({{state, number},
                        encode({"MULTI"}) + encode({"HGETALL", state}) +
                            encode({"HGET", partition_keys::lane_records(state, job_), c.in.name}) +
                            encode({"EXEC"}),
                        4,
                        true});
    blind.push_back(&p);
  }
  if (blind.empty()) return;
  const std::vector<answer> answers = with.exchange(requests);
  bool is_there = false;
  for (std::size_t i = 0; i < blind.size(); ++i) {
    try {
      take_look(with, *blind[i], c.in, answers[i], is_there);
    } catch (const error&) {
      blind[i]->failed = batch_failure::from_current_exception();
    }
    if (++blind[i]->looks == max_looks)
      blind[i]->failed = batch_failure{batch_failure::cause::backend,
                                       "somebody else claims the events of '" + c.in.name +
                                           "' for the same job faster than this process; end one of the two",
                                       {}};
  }
}

/// @param is_there  whether the job is, as of a moment behind the look
void redis_ledger::take_look(session& with, part& p, lane& in, const answer& a, bool& is_there) {
  if (!a) throw backend_error(a.error().message);
  const std::uint32_t number = p.left.keys.partition;
  const std::string state = filter_.keys.state(filter_.generation, number);
  // The first error is the cause: the last is EXECABORT.
  const auto refused = std::ranges::find_if(*a, [](const reply& r) { return r.is_error(); });
  if (refused != a->end()) throw backend_error(refused_command(state, refused->text()));
  const reply& both = a->back();
  if (both.size() != 2) throw backend_error(refused_command(state, "a transaction was not answered in full"));
  for (std::size_t i = 0; i < 2; ++i) {
    if (both[i].is_error("WRONGTYPE"))
      throw damaged_key(i == 0 ? state : partition_keys::lane_records(state, job_), "has another type");
    if (both[i].is_error()) throw backend_error(refused_command(state, both[i].text()));
  }
  if (both[0].size() == 0) why_missing(with, state).raise();
  remote_partition read = decode_state(filter_, number, both[0]);
  if (read.closed)  // only by foreign hands: a filter with jobs is not rebuilt
    throw storage_error("the filter '" + filter_.keys.name() + "' was replaced meanwhile; open it again", 0,
                        state);
  read.looked_at = std::chrono::steady_clock::now();
  p.known = std::make_shared<const remote_partition>(std::move(read));
  p.just_looked = true;
  in.records[number] = lane_record::decode(both[1].text());
  if (!is_there) {  // the record may be that of a later job of the name
    if (!is_listed(with, filter_, job_, kept_)) throw is_gone(filter_, job_);
    is_there = true;
  }
  if (in.records[number]->head() < in.answered[number]) throw forgotten(state, in.name);
}

/// Heads sort as positions do, and a record never goes back by itself.
format_error redis_ledger::forgotten(const std::string& state, const std::string& source) const {
  return format_error(
      "the server of '" + state + "' has forgotten events of '" + source +
      "' that it had answered for: it was started again without 'appendfsync always', or a replica "
      "that lagged took its place. Counters may be too low: count again from the beginning, "
      "into a new filter");
}

/// A filter that was dropped, or has ended, is no damage.
batch_failure redis_ledger::why_missing(session& with, const std::string& key) const {
  try {
    const catalogue names(pool_->url());
    const std::string& name = filter_.keys.name();
    if (names.read(with, name).generation != filter_.generation)
      return {batch_failure::cause::storage,
              "the filter '" + name + "' was dropped and made again; its jobs went with it",
              {}};
    (void)names.require_order(with, name);
    throw damaged_key(key, "is missing");
  } catch (const no_filter& e) {
    return {batch_failure::cause::storage, e.what(), {}};
  } catch (const error&) {
    return batch_failure::from_current_exception();
  }
}

/// Adds the keys of events whose record calls them fresh, once more: a server that was killed while it wrote
/// may have kept the record without all of the bits. It changes nothing where they are.
void redis_ledger::complete(session& with, claiming& c) {
  std::vector<fresh_replays> all;
  for (const part& p : c.parts)
    if (!p.failed) all.emplace_back(p.left, *c.in.records[p.left.keys.partition]);
  std::erase_if(all, [](const fresh_replays& one) { return one.digests.empty(); });
  if (all.empty()) return;
  std::vector<partition_batch> batches;
  for (fresh_replays& one : all) batches.push_back(one.batch());
  auto failure = generations_.judge(with, batches, partition_task::purpose::add);
  if (!failure) return;
  for (part& p : c.parts)
    if (!p.failed) p.failed = failure;
}

/// Gives the events that were judged before their verdicts. As positions ascend they are the first ones.
/// Those whose answer this claim lost are its own.
void redis_ledger::resolve(part& p, const lane& in) const {
  const auto claimed_before = p.left.claimed_before;
  const remote_partition& state = *p.known;
  const auto& window = filter_.spec.window;
  answer_replays(p.left, *in.records[p.left.keys.partition], [&](event_time t) {
    return window && !state.slices.empty() &&
           window::slice_at(*window, t) < window::oldest_live(*window, state.newest());
  });
  const std::size_t judged = claimed_before.size() - p.left.claimed_before.size();
  if (p.was_lost) std::ranges::fill(claimed_before.first(judged), std::uint8_t{0});
}

std::vector<partition_task> redis_ledger::tasks_for(claiming& c) {
  std::vector<partition_task> tasks;
  tasks.reserve(c.parts.size());
  for (part& p : c.parts) {
    const auto call = std::make_shared<claim_call>(job_, c.in.name, p.left, c.from.settled,
                                                   *c.in.records[p.left.keys.partition]);
    std::unique_ptr<gear> by;
    if (gear_ == gear_kind::module)
      by = std::make_unique<module_claim_gear>(filter_, call);
    else
      by = std::make_unique<script_claim_gear>(filter_, call);
    tasks.emplace_back(filter_, partition_task::purpose::claim, p.left.keys, p.known, std::move(by),
                       partition_task::terms{.just_looked = std::exchange(p.just_looked, false)});
  }
  return tasks;
}

void redis_ledger::take_back(session& with, claiming& c, const std::vector<partition_task>& tasks) {
  std::vector<part> again;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    part& p = c.parts[i];
    const partition_task& task = tasks[i];
    auto& record = c.in.records[p.left.keys.partition];
    c.in.answered[p.left.keys.partition] = std::max(c.in.answered[p.left.keys.partition], record->head());
    p.known = task.known();
    if (task.failure() && task.failure()->why == batch_failure::cause::full) {
      c.note(*task.failure());
    } else if (task.failure()) {
      p.known = nullptr;  // nothing is certain
      record.reset();
      c.note(task.detour() == reason::gone ? why_missing(with, task.place().key) : *task.failure());
    } else if (task.detour() != reason::none) {
      p.left = rest_of(p.left, task.answered());
      p.known = nullptr;
      record.reset();
      again.push_back(p);
    }
    const std::scoped_lock alone(lock_);
    pictures_[p.left.keys.partition] = p.known;
  }
  c.parts = std::move(again);
}

bool redis_ledger::settle(std::span<const checkpoint> reached) {
  return put_down(*pool_->take(), filter_, job_, kept_, reached);
}

std::map<std::string, checkpoint, std::less<>> redis_ledger::checkpoints() const {
  return checkpoints_of(*pool_->take(), filter_, job_);
}

void redis_ledger::visit_counters(const counter_visitor& visit) const {
  const session_pool::lease with = pool_->take();
  for (std::uint32_t p = 0; p < filter_.spec.partitions; ++p)
    visit_counters_of(*with, filter_, p, job_, visit);
}

}  // namespace everseen::redis
