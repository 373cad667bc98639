#include "everseen/redis/redis_filter.hpp"

#include <algorithm>
#include <optional>

#include "everseen/core/assert.hpp"
#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/replica_wait.hpp"
#include "everseen/store/unanswered.hpp"

namespace everseen::redis {

namespace {

/// Bytes of a segment fetched by one command.
constexpr std::uint64_t page_bytes = std::uint64_t{1} << 20;

/// Sends what the tasks want to know, all at once, and hands out the answers, until all are done.
void drive(session& with, const replica_wait& replicas, std::vector<partition_task>& tasks) {
  std::vector<partition_task*> waiting;
  std::vector<request> requests;
  for (;;) {
    waiting.clear();
    requests.clear();
    for (partition_task& task : tasks) {
      if (task.done()) continue;
      const bool adds = task.adds_next();
      waiting.push_back(&task);
      requests.push_back(task.next());
      if (adds) replicas.follow(requests.back(), tasks.size());
    }
    if (waiting.empty()) return;
    std::vector<answer> answers = with.exchange(requests);
    for (std::size_t i = 0; i < waiting.size(); ++i)
      if (auto lacking = replicas.take_off(requests[i], answers[i]))
        waiting[i]->give_up(*std::move(lacking));
      else
        waiting[i]->take(answers[i]);
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
      tasks.emplace_back(filter_, what, batch, known_[batch.partition], with->name());
  }
  drive(*with, replica_wait(pool_->url()), tasks);

  tally done;
  std::optional<batch_failure> failure;
  std::optional<std::uint32_t> gone;  // whose state is not there
  {
    const std::scoped_lock alone(lock_);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      auto& known = known_[batches[i].partition];
      // Another thread may have learned more meanwhile; after a failure nothing is certain.
      if (tasks[i].failure())
        known = nullptr;
      else if (tasks[i].known() && (!known || known->epoch < tasks[i].known()->epoch))
        known = tasks[i].known();
      done += tasks[i].done_so_far();
      if (failure || !tasks[i].failure()) continue;
      failure = tasks[i].failure();
      if (tasks[i].is_gone()) gone = batches[i].partition;
    }
  }
  if (!failure) return done;
  if (gone) failure = why_gone(*with, *gone, *std::move(failure));
  failure->done = done;
  return tl::unexpected(*std::move(failure));
}

/// A filter that was dropped, or has ended, is no damage.
batch_failure redis_filter::why_gone(session& with, std::uint32_t partition, batch_failure damage) const {
  const std::string& name = filter_.keys.name();
  const catalogue names(pool_->url().prefix);
  try {
    if (names.read(with, name).id == filter_.id) return damage;
    damage.message = "the filter '" + name + "' was dropped and made again; open it again";
  } catch (const parameter_error& e) {
    if (names.look_up(with, name) == catalogue::listing::none) {
      damage.message = "the key " + filter_.keys.state(filter_.generation, partition) +
                       " is missing, and nothing knows the filter '" + name +
                       "' any more: it was dropped, or its server lost its data";
      return damage;
    }
    damage.message = e.what();
  } catch (const storage_error& e) {
    damage.message = e.what();
  } catch (const error&) {
    return damage;
  }
  damage.why = batch_failure::cause::storage;
  return damage;
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

std::string redis_filter::place_of(std::uint32_t partition) const {
  const session_pool::lease with = pool_->take();
  return to_string(with->server_of({filter_.keys.state(filter_.generation, partition), partition}));
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
