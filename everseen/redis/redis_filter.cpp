#include "everseen/redis/redis_filter.hpp"

#include <algorithm>
#include <optional>

#include "everseen/core/assert.hpp"
#include "everseen/store/unanswered.hpp"

namespace everseen::redis {

namespace {

/// Bytes of a segment fetched by one command.
constexpr std::uint64_t page_bytes = std::uint64_t{1} << 20;

/// Sends what the tasks want to know, all at once, and hands out the answers, until all are done.
void drive(session& with, std::vector<partition_task>& tasks) {
  std::vector<partition_task*> waiting;
  std::vector<request> requests;
  for (;;) {
    waiting.clear();
    requests.clear();
    for (partition_task& task : tasks) {
      if (task.done()) continue;
      waiting.push_back(&task);
      requests.push_back(task.next());
    }
    if (waiting.empty()) return;
    const std::vector<answer> answers = with.exchange(requests);
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->take(answers[i]);
  }
}

}  // namespace

redis_filter::redis_filter(std::shared_ptr<session_pool> pool, remote_filter f, access how)
    : pool_(std::move(pool)), filter_(std::move(f)), how_(how), known_(filter_.spec.partitions) {}

batch_result redis_filter::add(std::span<const partition_batch> batches) {
  if (how_ == access::read)
    return unanswered(batches, batch_failure::cause::storage,
                      "the filter was opened for reading; open it for writing to add keys");
  return run(batches, partition_task::purpose::add);
}

batch_result redis_filter::check(std::span<const partition_batch> batches) const {
  return run(batches, partition_task::purpose::check);
}

batch_result redis_filter::run(std::span<const partition_batch> batches, partition_task::purpose what) const {
  const session_pool::lease with = pool_->take();
  std::vector<partition_task> tasks;
  tasks.reserve(batches.size());
  {
    const std::scoped_lock alone(lock_);
    for (const partition_batch& batch : batches)
      tasks.emplace_back(filter_, what, batch, known_[batch.partition], first_gear(*with),
                         second_gear(*with));
  }
  drive(*with, tasks);
  for (const partition_task& task : tasks)
    if (task.changed_gear()) no_scripts_ = true;

  tally done;
  std::optional<batch_failure> failure;
  const std::scoped_lock alone(lock_);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto& known = known_[batches[i].partition];
    // Another thread may have learned more meanwhile; after a failure nothing is certain.
    if (tasks[i].failure())
      known = nullptr;
    else if (tasks[i].known() && (!known || known->epoch < tasks[i].known()->epoch))
      known = tasks[i].known();
    done += tasks[i].done_so_far();
    if (!failure && tasks[i].failure()) failure = tasks[i].failure();
  }
  if (!failure) return done;
  failure->done = done;
  return tl::unexpected(*std::move(failure));
}

gear_kind redis_filter::gear_in_use() const noexcept {
  return pool_->url().gear.value_or(no_scripts_ ? gear_kind::bitfield : gear_kind::script);
}

std::string redis_filter::way() const {
  return gear_in_use() == gear_kind::script ? "redis, script" : "redis, bitfield";
}

std::unique_ptr<gear> redis_filter::first_gear(const session& with) const {
  return make_gear(gear_in_use(), filter_, with.name());
}

std::unique_ptr<gear> redis_filter::second_gear(const session& with) const {
  if (pool_->url().gear || no_scripts_) return nullptr;
  return make_gear(gear_kind::bitfield, filter_, with.name());
}

void redis_filter::wait_with(std::shared_ptr<patience> p) {
  filter_.keeps_answers = p ? answers_kept_in_an_outage : answers_kept;
  pool_->wait_with(std::move(p));
}

remote_partition redis_filter::load(session& with, std::uint32_t partition) const {
  const std::string key = filter_.keys.state(filter_.generation, partition);
  return decode_state(filter_, partition, ask_about(with, {key, partition}, {"HGETALL", key}));
}

partition_state redis_filter::state(std::uint32_t partition) const {
  EVERSEEN_ASSERT(partition < filter_.spec.partitions);
  const session_pool::lease with = pool_->take();
  return {load(*with, partition).slices};
}

void redis_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  const session_pool::lease with = pool_->take();
  const remote_partition now = load(*with, partition);
  for (const slice_state& slice : now.slices)
    for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer) {
      const segment_id id = {partition, slice.index, layer};
      const std::string key = filter_.keys.segment(filter_.generation, id);
      const std::uint64_t bytes = slice.layers[layer].shape.bytes;
      if (ask_about(*with, {key, partition}, {"STRLEN", key}).integer() != static_cast<std::int64_t>(bytes))
        throw damaged_key(key, "is missing or has another length");
      std::vector<std::byte> bits;
      bits.reserve(bytes);
      while (bits.size() < bytes) {
        const std::string last = std::to_string(std::min<std::uint64_t>(bytes, bits.size() + page_bytes) - 1);
        const reply page =
            ask_about(*with, {key, partition}, {"GETRANGE", key, std::to_string(bits.size()), last});
        if (page.text().empty()) throw damaged_key(key, "is missing or shorter than it was");
        const auto* from = reinterpret_cast<const std::byte*>(page.text().data());
        bits.insert(bits.end(), from, from + page.text().size());
      }
      visit(id, slice.layers[layer], bits);
    }
}

}  // namespace everseen::redis
