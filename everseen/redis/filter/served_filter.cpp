#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/redis/filter/sealable_filter.hpp"
#include "everseen/redis/filter/value_merge.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/ledger/job_ledger.hpp"
#include "everseen/redis/served/partition_task.hpp"
#include "everseen/redis/served/stored_value.hpp"
#include "everseen/redis/transport/call.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen::redis {

namespace {

/// A filter on Redis servers that they judge, by the everseen module: each partition is one value there.
///
/// Its header says how long it lives. A filter that is one value under a key of its users
/// (filter_keys::of_value) has neither that nor jobs. Anyone may drop a value or make another one there: each
/// call names the filter that it means.
///
/// Bits, counts, growth and windows are in the values; this object knows none of them. Threads: any number.
class served_filter final : public sealable_filter {
 public:
  served_filter(std::shared_ptr<connection_pool> pool, std::string name, const filter_identity& f,
                access mode);

  [[nodiscard]] std::optional<image::filter_id> successor() const override;
  void move_window_to(window::slice_index newest) override;
  void clear() override {}

  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  void must_fit(const sibling_source& siblings) const override;
  void merge(const sibling_source& siblings) override;
  [[nodiscard]] batch_path path() const override;
  /// @throws parameter_error  also if it is one value without a header
  [[nodiscard]] std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                    std::optional<std::string_view> description) override;

 private:
  [[nodiscard]] std::unique_ptr<ledger> ledger_of(std::string job, listed_job listed) override;
  void require_life(server_connections& connections) const override;
  void must_take_siblings() const;
  batch_result run(std::span<const partition_batch> batches, partition_task::purpose intent) const;
  [[nodiscard]] std::optional<batch_failure> drive_all(server_connections& connections,
                                                       std::vector<partition_task>& tasks) const;
  [[nodiscard]] stored_value read(server_connections& connections, std::uint32_t partition) const;
  void note_successor(const std::optional<image::filter_id>& successor) const;

  mutable filter_life life_{identity()};  // unless it is one value
  mutable std::mutex lock_;               // guards what follows
  mutable std::optional<image::filter_id> successor_{};
};

}  // namespace

served_filter::served_filter(std::shared_ptr<connection_pool> pool, std::string name,
                             const filter_identity& f, access mode)
    : sealable_filter(std::move(pool), std::move(name), f, mode) {}

std::optional<image::filter_id> served_filter::successor() const {
  const std::scoped_lock alone(lock_);
  return successor_;
}

void served_filter::require_life(server_connections& connections) const {
  if (!identity().keys.is_value()) life_.require(connections);
}

batch_path served_filter::path() const {
  const filter_keys& keys = identity().keys;
  return path_by(keys.is_value() ? "redis, module, the key " + keys.state(0) : "redis, module");
}

std::unique_ptr<ledger> served_filter::open_ledger(std::string_view job,
                                                   std::optional<std::string_view> description) {
  if (identity().keys.is_value())
    throw parameter_error(quoted_name(name()) +
                          " is attached: a job needs a filter that everseen create has made");
  return sealable_filter::open_ledger(job, description);
}

/// A sealed value stays so.
void served_filter::note_successor(const std::optional<image::filter_id>& successor) const {
  if (!successor) return;
  const std::scoped_lock alone(lock_);
  successor_ = successor;
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

batch_result served_filter::run(std::span<const partition_batch> batches,
                                partition_task::purpose intent) const {
  for (const partition_batch& batch : batches) std::ranges::fill(batch.out, verdict::unknown);
  std::optional<batch_failure> failure;
  try {
    const connection_pool::lease connections = session_now();
    require_life(*connections);
    const packed_commands commands(identity(), connections->name(), pool()->keeps_answers());
    std::vector<partition_task> tasks;
    tasks.reserve(batches.size());
    for (const partition_batch& batch : batches)
      if (!batch.digests.empty()) tasks.emplace_back(commands, intent, batch);
    failure = drive_all(*connections, tasks);
  } catch (...) {  // the system has run out of memory or descriptors
    failure = batch_failure::from_current_exception();
  }
  return answered(batches, std::move(failure));
}

/// @return the first failure; one that ends a batch takes precedence over a full filter
std::optional<batch_failure> served_filter::drive_all(server_connections& connections,
                                                      std::vector<partition_task>& tasks) const {
  drive(connections, tasks);
  std::optional<batch_failure> all;
  for (const partition_task& task : tasks) {
    note_successor(task.successor());
    std::optional<batch_failure> one = task.failure();
    // The successor, if there is one, judges the keys without a verdict.
    if (task.detour() == partition_task::reason::sealed && !one)
      one = batch_failure{batch_failure::cause::storage,
                          filter_is_sealed(identity(), *task.successor(), task.place().key).what(),
                          {}};
    if (one && (!all || (!all->ends_batch() && one->ends_batch()))) all = std::move(one);
  }
  return all;
}

void served_filter::move_window_to(window::slice_index newest) {
  const connection_pool::lease connections = session_now();
  std::vector<request> requests;
  for (std::uint32_t p = 0; p < identity().spec.partitions; ++p) {
    const std::string key = identity().keys.state(p);
    requests.push_back({{key, p}, encode({"EVERSEEN.EXTEND", key, std::to_string(newest)}), 1, true});
    requests.back().on_replicas = true;
  }
  const std::vector<answer> answers = connections->exchange(requests);
  for (std::uint32_t p = 0; p < answers.size(); ++p) {
    if (!answers[p]) throw backend_error(answers[p].error().message);
    const reply& last = answers[p]->back();
    note_successor(successor_in(last));
    if (last.is_error()) raise_refusal(identity(), p, last);
  }
}

stored_value served_filter::read(server_connections& connections, std::uint32_t partition) const {
  require_life(connections);
  stored_value current = read_value(connections, identity(), partition);
  note_successor(current.successor);
  return current;
}

partition_state served_filter::state(std::uint32_t partition) const {
  EVERSEEN_ASSERT(partition < identity().spec.partitions);
  return read(*session_now(), partition).state;
}

/// Another client may have moved the window: segments that left it are missing, and need no visit.
/// A server may announce more than there is: memory that it does not fill is not touched.
void served_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  const connection_pool::lease connections = session_now();
  for (const announced_filter::segment& s :
       segments_of(partition, read(*connections, partition).state.slices)) {
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(s.layer.shape.bytes);
    const std::span bits(memory.get(), s.layer.shape.bytes);
    if (read_bits(*connections, identity(), s.id, bits)) visit(s.id, s.layer, bits);
  }
}

void served_filter::must_fit(const sibling_source& siblings) const {
  must_take_siblings();
  must_fit_in_copy(siblings);
}

void served_filter::merge(const sibling_source& siblings) {
  must_take_siblings();
  const connection_pool::lease connections = session_now();
  require_life(*connections);
  for (std::uint32_t p = 0; p < identity().spec.partitions; ++p)
    siblings(p, [&](std::span<const sibling_segment> theirs) {
      merge_into_value(*connections, identity(), p, theirs);
    });
}

/// Beside a key of its users, there may be no room for another key in its slot.
void served_filter::must_take_siblings() const {
  sealable_filter::must_take_siblings();
  if (identity().keys.is_value())
    throw parameter_error(quoted_name(name()) +
                          " is attached: merge into its key by BF.MERGE, on the server that has it");
}

std::unique_ptr<ledger> served_filter::ledger_of(std::string job, listed_job listed) {
  return open_served_ledger(pool(), identity(), name(), std::move(job), std::move(listed), may_write());
}

std::shared_ptr<sealable_filter> open_served(std::shared_ptr<connection_pool> pool, std::string name,
                                             const filter_identity& f, access mode) {
  return std::make_shared<served_filter>(std::move(pool), std::move(name), f, mode);
}

}  // namespace everseen::redis
