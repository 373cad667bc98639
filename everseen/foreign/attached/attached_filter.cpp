#include "everseen/foreign/attached/attached_filter.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/redis/transport/call.hpp"
#include "everseen/redis/transport/event_loop.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen::foreign {

namespace {

/// How long another program may take from moving the cursor to beginning its string.
constexpr std::chrono::milliseconds begins_within = std::chrono::seconds(1);

/// Waits for strings that another program is about to begin, for at most `limit` from the first on.
void drive_to_the_end(redis::server_connections& connections, std::chrono::milliseconds limit,
                      std::vector<attached_task>& tasks) {
  using clock = std::chrono::steady_clock;
  std::optional<clock::time_point> until;
  redis::backoff pauses;
  for (;;) {
    drive(connections, tasks);
    if (std::ranges::none_of(tasks, &attached_task::held)) return;
    if (!until) until = clock::now() + limit;
    const bool again = clock::now() < *until;
    if (again) std::this_thread::sleep_for(pauses.next());
    for (attached_task& task : tasks)
      if (task.held()) again ? task.resume() : task.give_up_waiting();
  }
}

}  // namespace

void require_commands(const redis::redis_url& url, const attachment& a) {
  if (url.commands == redis::command_kind::bitfield && a.shape == attachment::form::growing)
    throw parameter_error("a growing filter needs scripts; leave commands=bitfield out of the URL");
}

attached_filter::attached_filter(std::shared_ptr<redis::connection_pool> pool, attachment a, std::string own,
                                 access mode)
    : pool_(std::move(pool)),
      names_{std::move(a), std::move(own)},
      spec_(spec_of(names_.target)),
      mode_(mode) {}

batch_result attached_filter::add(std::span<const partition_batch> batches) {
  if (mode_ == access::read)
    return unanswered(batches, batch_failure::cause::storage,
                      "the filter was opened for reading; open it for writing to add keys");
  return run(batches, attached_task::purpose::add);
}

batch_result attached_filter::check(std::span<const partition_batch> batches) const {
  return run(batches, attached_task::purpose::check);
}

batch_result attached_filter::run(std::span<const partition_batch> batches,
                                  attached_task::purpose intent) const {
  for (const partition_batch& batch : batches) std::ranges::fill(batch.out, verdict::unknown);
  std::optional<batch_failure> failure;
  try {
    failure = judge(batches, intent);
  } catch (...) {  // the system has run out of memory or descriptors
    failure = batch_failure::from_current_exception();
  }
  return answered(batches, std::move(failure));
}

std::optional<batch_failure> attached_filter::judge(std::span<const partition_batch> batches,
                                                    attached_task::purpose intent) const {
  const redis::connection_pool::lease connections = pool_->take();
  std::vector<attached_task> tasks;
  for (const partition_batch& batch : batches) {
    EVERSEEN_ASSERT(batch.keys.size() == batch.out.size());
    for (located_keys& some : locate(names_.target, batch.keys))
      tasks.emplace_back(names_, intent, std::move(some), batch.out, commands_now(*connections));
  }
  drive_to_the_end(*connections, std::min(pool_->url().retry_for, begins_within), tasks);
  std::optional<batch_failure> failure;
  for (const attached_task& task : tasks) {
    if (!task.learned().by_script && task.learned().may_change) no_scripts_ = true;
    newest_ = task.learned().newest;
    if (!failure) failure = task.failure();
  }
  return failure;
}

attached_task::commands attached_filter::commands_now(const redis::server_connections& connections) const {
  const auto& commands = pool_->url().commands;
  const bool by_script = commands != redis::command_kind::bitfield && !no_scripts_;
  return {connections.name(), by_script || names_.target.shape == attachment::form::growing,
          by_script && commands != redis::command_kind::script, newest_, pool_->keeps_answers()};
}

batch_path attached_filter::path() const {
  const redis::connection_pool::lease connections = pool_->take();
  return {commands_now(*connections).by_script ? "redis, attached, script" : "redis, attached, bitfield",
          {to_string(connections->server_of({places_of(names_.target, 0).front().key, 0}))},
          {}};
}

std::vector<bitmap> attached_filter::survey() const {
  return foreign::survey(*pool_->take(), names_.target);
}

std::vector<bitmap> attached_filter::strings() const {
  return measure(*pool_->take(), names_.target);
}

void attached_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  std::uint32_t number = 0;
  for (const bitmap_place& place : places_now(*pool_->take(), names_.target)) {
    std::vector<std::byte> bits;
    read_string(place, [&](std::string_view page) {
      const auto bytes = std::as_bytes(std::span(page));
      bits.insert(bits.end(), bytes.begin(), bytes.end());
    });
    const layer_state layer{
        {layout_kind::classic, static_cast<std::uint8_t>(names_.target.hashing.probes), bits.size()},
        spec_.capacity,
        0};
    visit({partition, window::timeless, number++}, layer, bits);
  }
}

void attached_filter::read_string(const bitmap_place& place,
                                  const std::function<void(std::string_view)>& take) const {
  foreign::read_string(*pool_->take(), names_.target, place, take);
}

std::optional<foreign_bits> attached_filter::foreign_bits_of(std::string_view key) const {
  return foreign_bits{properties_of(names_.target), bits_of(*pool_->take(), names_.target, key)};
}

const attached_filter* as_attached(const stored_filter& f) noexcept {
  return dynamic_cast<const attached_filter*>(&f);
}

// Reports about an attached filter: fill, error rate, concerns.

double attached_filter::estimated_keys(std::uint64_t set_bits) const {
  const auto bits = static_cast<double>(reachable_bits(names_.target));
  // A string whose bits are all set may hold any number of keys. With one bit less there is an estimate.
  const double set = std::min(static_cast<double>(set_bits), bits - 1);
  return -bits / names_.target.hashing.probes * std::log1p(-set / bits);
}

double attached_filter::error_rate_now(const std::vector<bitmap>& all) const {
  const auto bits = static_cast<double>(reachable_bits(names_.target));
  double right = 1;
  double sum = 0;
  for (const bitmap& b : all) {
    const double rate = std::pow(static_cast<double>(b.set_bits) / bits, names_.target.hashing.probes);
    right *= 1 - rate;
    sum += rate;
  }
  // A key is looked up in every string of a chain, but in one of the shards.
  if (names_.target.shape == attachment::form::growing) return 1 - right;
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

std::vector<std::string> attached_filter::doubts(const std::vector<bitmap>& all) const {
  std::vector<std::string> found;
  if (const auto hash = warning_about(names_.target.hashing); !hash.empty()) found.emplace_back(hash);
  if (names_.target.shape == attachment::form::growing)
    found.emplace_back(
        "each string of a growing filter has the whole error rate, so with every string it errs more");
  const bool random_positions = facts(names_.target.hashing.which).has_random_positions;
  for (const bitmap& b : all) {
    const std::string& key = b.place.key;
    // The last of this many random bits is near the end, except with a chance of one in 10^21.
    const double reached =
        static_cast<double>(8 * b.bytes) / static_cast<double>(reachable_bits(names_.target));
    if (random_positions && b.set_bits >= 100 && reached < 1 - 50 / static_cast<double>(b.set_bits))
      found.push_back("the string " + key + " ends at bit " + std::to_string(8 * b.bytes) + " though " +
                      std::to_string(b.set_bits) + " bits are set: the filter seems to have fewer than " +
                      std::to_string(names_.target.hashing.bits) + " bits");
  }
  return found;
}

std::vector<std::string> attached_filter::missing(const std::vector<bitmap>& all) const {
  const attachment& a = names_.target;
  const bool shards = a.shape == attachment::form::sharded;
  // A shard that has received no key does not exist yet. With this many bits per shard every shard has
  // received one.
  constexpr std::uint64_t bits_a_shard = 10'000;
  std::uint64_t set_bits = 0;
  for (const bitmap& b : all) set_bits += b.set_bits;
  std::vector<std::string> found;
  for (const bitmap& b : all) {
    if (b.bytes > 0 || (shards && !a.was_there && set_bits < bits_a_shard * all.size())) continue;
    if (all.size() > 1 && !shards)
      found.push_back(string_fault::of_missing(b.place.key, a));
    else
      found.push_back("the key " + b.place.key + (shards ? " of " + b.server : "") +
                      " does not exist, which is an empty filter to its program and to everseen" +
                      (a.was_there ? ": it was there when it was attached, so it was deleted, has expired or "
                                     "was evicted, and all that it had seen is fresh now"
                                   : ": if it did, it was deleted, has expired or was evicted"));
  }
  return found;
}

std::vector<std::string> attached_filter::lost_strings() const {
  if (!names_.target.was_there) return {};
  return missing(strings());
}

/// Keeps callers that often ask for the fill from making the servers count bits all the time.
std::vector<bitmap> attached_filter::recent_survey() const {
  using clock = std::chrono::steady_clock;
  {
    const std::scoped_lock alone(lock_);
    if (clock::now() < surveyed_.good_until) return surveyed_.all;
  }
  std::vector<bitmap> all = survey();
  std::uint64_t bytes = 0;
  for (const bitmap& b : all) bytes += b.bytes;
  constexpr std::uint64_t too_few = std::uint64_t{1} << 20;
  constexpr std::uint64_t bytes_a_second = std::uint64_t{8} << 20;
  if (bytes > too_few) {
    const std::scoped_lock alone(lock_);
    surveyed_ = {all, clock::now() + std::chrono::milliseconds(1000 * bytes / bytes_a_second)};
  }
  return all;
}

partition_state attached_filter::state(std::uint32_t /*partition*/) const {
  const std::vector<bitmap> all = recent_survey();
  const std::uint64_t bytes = (reachable_bits(names_.target) + 7) / 8;
  const auto probes = static_cast<std::uint8_t>(names_.target.hashing.probes);
  slice_state slice;
  for (const bitmap& b : all) {
    const auto keys = static_cast<std::uint64_t>(std::llround(estimated_keys(b.set_bits)));
    if (names_.target.shape == attachment::form::sharded && !slice.layers.empty()) {
      slice.layers.front().shape.bytes += bytes;
      slice.layers.front().keys += keys;
    } else {
      slice.layers.push_back({{layout_kind::classic, probes, bytes}, spec_.capacity, keys});
    }
  }
  return {{std::move(slice)}};
}

}  // namespace everseen::foreign
