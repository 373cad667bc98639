#include "everseen/redis/filter/served_filter.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/redis/journal/stored_checkpoint.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/ledger/served_ledger.hpp"
#include "everseen/redis/transport/drive.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen::redis {

served_filter::served_filter(std::shared_ptr<session_pool> pool, std::string name, const filter_identity& f,
                             command_kind by, access how)
    : sealable_filter(std::move(pool), std::move(name), f, how), by_(by), known_(f.spec.partitions) {}

std::optional<image::filter_id> served_filter::successor() const {
  const std::scoped_lock alone(lock_);
  return successor_;
}

void served_filter::clear() {
  const std::scoped_lock alone(lock_);
  std::ranges::fill(known_, nullptr);
}

batch_result served_filter::add(std::span<const partition_batch> batches) {
  if (!may_write())
    return unanswered(batches, batch_failure::cause::storage,
                      "the filter was opened for reading; open it for writing to add keys");
  return run(batches, partition_task::purpose::add);
}

batch_result served_filter::check(std::span<const partition_batch> batches) const {
  return run(batches, partition_task::purpose::check);
}

command_set served_filter::commands(const session& with) const {
  return {identity(), by_, with.name(), pool()->keeps_answers()};
}

batch_result served_filter::run(std::span<const partition_batch> batches,
                                partition_task::purpose what) const {
  for (const partition_batch& batch : batches) std::ranges::fill(batch.out, verdict::unknown);
  std::optional<batch_failure> failure;
  try {
    const session_pool::lease with = session_now();
    life_.require(*with);
    std::vector<partition_task> tasks;
    tasks.reserve(batches.size());
    {
      const std::scoped_lock alone(lock_);
      for (const partition_batch& batch : batches)
        if (!batch.digests.empty()) tasks.emplace_back(commands(*with), what, batch, known_[batch.partition]);
    }
    failure = drive_all(*with, tasks);
  } catch (...) {  // the system has run out of memory or descriptors
    failure = batch_failure::from_current_exception();
  }
  return answered(batches, std::move(failure));
}

/// @return the first failure; one that ends a batch takes precedence over a full filter
std::optional<batch_failure> served_filter::drive_all(session& with,
                                                      std::vector<partition_task>& tasks) const {
  drive(with, tasks);
  std::optional<batch_failure> all;
  for (const partition_task& task : tasks) {
    learn(task);
    std::optional<batch_failure> one = task.failure();
    // The successor, if there is one, judges the keys without a verdict.
    if (task.detour() == partition_task::reason::sealed && !one)
      one = batch_failure{batch_failure::cause::storage,
                          filter_is_sealed(identity(), *task.known()->successor, task.place().key).what(),
                          {}};
    if (one && (!all || (!all->ends_batch() && one->ends_batch()))) all = std::move(one);
  }
  return all;
}

/// After a failure the state is uncertain. If another thread has a newer state, the next call detects that.
void served_filter::learn(const partition_task& task) const {
  const std::scoped_lock alone(lock_);
  known_[task.place().partition] = task.failure() ? nullptr : task.known();
  if (task.known() && task.known()->successor) successor_ = task.known()->successor;
}

void served_filter::move_window_to(window::slice_index newest) {
  const session_pool::lease with = session_now();
  std::vector<partition_task> tasks;
  tasks.reserve(identity().spec.partitions);
  for (std::uint32_t p = 0; p < identity().spec.partitions; ++p)
    tasks.emplace_back(commands(*with), p, newest);
  if (const auto failure = drive_all(*with, tasks)) failure->raise();
}

batch_path served_filter::path() const {
  return path_by(by_ == command_kind::module ? "redis, module" : "redis, script");
}

remote_partition served_filter::load(session& with, std::uint32_t partition) const {
  const std::string key = identity().keys.state(partition);
  const reply fields = ask_about(with, {key, partition}, {"HGETALL", key});
  if (fields.size() == 0) throw filter_is_gone(key);
  remote_partition p = decode_state(identity(), partition, fields);
  const std::scoped_lock alone(lock_);
  if (p.successor) successor_ = p.successor;
  return p;
}

partition_state served_filter::state(std::uint32_t partition) const {
  EVERSEEN_ASSERT(partition < identity().spec.partitions);
  const session_pool::lease with = session_now();
  life_.require(*with);
  for (;;) {
    const remote_partition now = load(*with, partition);
    const auto lost = first_lost(*with, now);
    if (!lost) return {now.slices};
    require_gone(*with, now, *lost);
  }
}

/// The first segment that does not have its full length.    Cost: one round trip, whatever their number.
std::optional<segment_id> served_filter::first_lost(session& with, const remote_partition& p) const {
  const std::vector<listed_segment> listed = segments_of(p.number, p.slices);
  std::vector<request> requests;
  for (const listed_segment& s : listed) {
    const std::string key = identity().keys.segment(s.id);
    requests.push_back({{key, p.number}, encode({"STRLEN", key}), 1, true});
  }
  const std::vector<answer> answers = with.exchange(requests);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const reply& length = expect_reply(answers[i], requests[i].to.key);
    if (length.integer() != static_cast<std::int64_t>(listed[i].layer.shape.bytes)) return listed[i].id;
  }
  return {};
}

/// Another client may have moved the window: segments that left it may be missing.
/// @throws format_error  the segment is missing, or has another length, though the partition lists it
void served_filter::require_gone(session& with, const remote_partition& then, const segment_id& id) const {
  const remote_partition now = load(with, id.partition);
  const slice_state* still = now.find(id.slice);
  if (now.epoch == then.epoch || (still != nullptr && id.layer < still->layers.size()))
    throw damaged_key(identity().keys.segment(id), "is missing or has another length");
}

void served_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  const session_pool::lease with = session_now();
  life_.require(*with);
  const remote_partition now = load(*with, partition);
  for (const listed_segment& s : segments_of(partition, now.slices)) {
    std::vector<std::byte> bits(s.layer.shape.bytes);
    if (read_segment(*with, identity(), s.id, bits))
      visit(s.id, s.layer, bits);
    else
      require_gone(*with, now, s.id);
  }
}

std::unique_ptr<ledger> served_filter::ledger_of(std::string job, listed_job listed) {
  return std::make_unique<served_ledger>(pool(), identity(), by_, name(), std::move(job), std::move(listed),
                                         may_write());
}

}  // namespace everseen::redis
