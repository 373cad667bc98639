#include "everseen/redis/redis_filter.hpp"

#include <algorithm>
#include <optional>

#include "everseen/core/assert.hpp"
#include "everseen/core/tally_of.hpp"
#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/ending.hpp"
#include "everseen/redis/jobs.hpp"
#include "everseen/redis/redis_ledger.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/store/unanswered.hpp"

namespace everseen::redis {

namespace {

/// Bytes of a segment fetched by one command.
constexpr std::uint64_t page_bytes = std::uint64_t{1} << 20;

/// The answer to a command about a key.
/// @throws format_error  the key has another type    @throws backend_error  no answer, or a refusal
const reply& checked(const answer& a, const std::string& key) {
  if (!a) throw backend_error(a.error().message);
  const reply& r = a->back();
  if (r.is_error("WRONGTYPE")) throw damaged_key(key, "has another type");
  if (r.is_error()) throw backend_error(refused_command(key, r.text()));
  return r;
}

}  // namespace

redis_filter::redis_filter(std::shared_ptr<session_pool> pool, remote_filter f, gear_kind gear, access how)
    : pool_(std::move(pool)),
      filter_(std::move(f)),
      gear_(gear),
      how_(how),
      generations_(pool_, filter_, gear_) {}

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
  for (const partition_batch& batch : batches) std::ranges::fill(batch.out, verdict::unknown);
  std::optional<batch_failure> failure;
  try {
    failure = generations_.judge(*pool_->take(), batches, what);
  } catch (...) {  // the system has no more memory, or descriptors
    failure = batch_failure::from_current_exception();
  }
  tally done;
  for (const partition_batch& batch : batches) done += tally_of(batch.out);
  if (!failure) return done;
  failure->done = done;
  return tl::unexpected(*std::move(failure));
}

std::string redis_filter::way() const {
  return gear_ == gear_kind::module ? "redis, module" : "redis, script";
}

std::optional<event_time> redis_filter::ends_at() const {
  const header now = catalogue(pool_->url()).read_header(*pool_->take(), filter_.keys.name());
  if (now.live.id != filter_.id)
    throw no_filter("the filter '" + filter_.keys.name() + "' was dropped and made again; open it again");
  return now.live.ends_at;
}

void redis_filter::end_at(std::optional<event_time> when) {
  if (how_ == access::read) return stored_filter::end_at(when);
  redis::end_at(*pool_->take(), catalogue(pool_->url()), filter_.keys.name(), when);
}

std::unique_ptr<ledger> redis_filter::open_ledger(std::string_view job, std::string_view description) {
  validate_job_name(job);
  const session_pool::lease with = pool_->take();
  std::string kept;
  if (how_ == access::read) {
    const auto all = jobs_of(*with, filter_);
    const auto found = all.find(job);
    if (found == all.end()) throw no_such_job(filter_.keys.name(), job);
    kept = found->second;
  } else {
    kept = open_job(*with, catalogue(pool_->url()), filter_, job, description);
  }
  return std::make_unique<redis_ledger>(pool_, filter_, gear_, std::string(job), std::move(kept),
                                        how_ == access::write);
}

std::vector<std::string> redis_filter::jobs() const {
  std::vector<std::string> names;
  for (const auto& [job, description] : jobs_of(*pool_->take(), filter_)) names.push_back(job);
  return names;
}

job_size redis_filter::size_of_job(std::string_view job) const {
  return redis::size_of_job(*pool_->take(), filter_, job);
}

void redis_filter::end_job(std::string_view job) {
  if (how_ == access::read)
    throw storage_error("the filter was opened for reading; open it for writing to end a job", 0, {});
  redis::end_job(*pool_->take(), filter_, job);
}

void redis_filter::wait_with(std::shared_ptr<patience> p) {
  generations_.keep_answers(p ? answers_kept_in_an_outage : answers_kept);
  pool_->wait_with(std::move(p));
}

remote_partition redis_filter::load(session& with, std::uint32_t partition) const {
  const std::string key = filter_.keys.state(filter_.generation, partition);
  const reply fields = ask_about(with, {key, partition}, {"HGETALL", key});
  if (fields.size() > 0) {
    remote_partition p = decode_state(filter_, partition, fields);
    if (!p.closed) return p;
  } else {
    const catalogue names(pool_->url());
    if (names.read(with, filter_.keys.name()).generation == filter_.generation) {
      (void)names.require_order(with, filter_.keys.name());
      throw damaged_key(key, "is missing");
    }
  }
  throw storage_error("the filter '" + filter_.keys.name() + "' was replaced meanwhile; open it again", 0,
                      key);
}

partition_state redis_filter::state(std::uint32_t partition) const {
  EVERSEEN_ASSERT(partition < filter_.spec.partitions);
  const session_pool::lease with = pool_->take();
  for (;;) {
    const remote_partition now = load(*with, partition);
    const auto lost = first_lost(*with, now);
    if (!lost) return {now.slices};
    require_gone(*with, now, *lost);
  }
}

/// The first segment that is not there in its full length.    Cost: one exchange, whatever their number.
std::optional<segment_id> redis_filter::first_lost(session& with, const remote_partition& p) const {
  const std::vector<listed_segment> listed = segments_of(p.number, p.slices);
  std::vector<request> requests;
  for (const listed_segment& s : listed) {
    const std::string key = filter_.keys.segment(filter_.generation, s.id);
    requests.push_back({{key, p.number}, encode({"STRLEN", key}), 1, true});
  }
  const std::vector<answer> answers = with.exchange(requests);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const reply& length = checked(answers[i], requests[i].to.key);
    if (length.integer() != static_cast<std::int64_t>(listed[i].layer.shape.bytes)) return listed[i].id;
  }
  return {};
}

/// A writer beside us may have moved the window on: what left it is not missed.
/// @throws format_error  the segment is missing, or has another length, though the partition lists it
void redis_filter::require_gone(session& with, const remote_partition& then, const segment_id& id) const {
  const remote_partition now = load(with, id.partition);
  const slice_state* still = now.find(id.slice);
  if (now.epoch == then.epoch || (still != nullptr && id.layer < still->layers.size()))
    throw damaged_key(filter_.keys.segment(filter_.generation, id), "is missing or has another length");
}

std::string redis_filter::place_of(std::uint32_t partition) const {
  const session_pool::lease with = pool_->take();
  return to_string(with->server_of({filter_.keys.state(filter_.generation, partition), partition}));
}

/// The bits of a segment; nothing if it is not there in its full length.
std::optional<std::vector<std::byte>> redis_filter::fetch(session& with, const segment_id& id,
                                                          std::uint64_t bytes) const {
  const std::string key = filter_.keys.segment(filter_.generation, id);
  const route to = {key, id.partition};
  if (ask_about(with, to, {"STRLEN", key}).integer() != static_cast<std::int64_t>(bytes)) return {};
  std::vector<std::byte> bits;
  bits.reserve(bytes);
  while (bits.size() < bytes) {
    const std::uint64_t end = std::min<std::uint64_t>(bytes, bits.size() + page_bytes);
    const reply page =
        ask_about(with, to, {"GETRANGE", key, std::to_string(bits.size()), std::to_string(end - 1)});
    if (page.text().size() != end - bits.size()) return {};
    const auto* from = reinterpret_cast<const std::byte*>(page.text().data());
    bits.insert(bits.end(), from, from + page.text().size());
  }
  return bits;
}

void redis_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  const session_pool::lease with = pool_->take();
  const remote_partition now = load(*with, partition);
  for (const slice_state& slice : now.slices)
    for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer) {
      const segment_id id = {partition, slice.index, layer};
      if (const auto bits = fetch(*with, id, slice.layers[layer].shape.bytes)) {
        visit(id, slice.layers[layer], *bits);
        continue;
      }
      require_gone(*with, now, id);
    }
}

}  // namespace everseen::redis
