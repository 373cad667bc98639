#include "everseen/redis/attached/attached_filter.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/redis/transport/backoff.hpp"
#include "everseen/redis/transport/drive.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen::redis {

namespace {

/// How long another program may take from moving the cursor to beginning its string.
constexpr std::chrono::milliseconds begins_within = std::chrono::seconds(1);

/// Waits for strings that another program is about to begin, for at most `limit` from the first on.
void drive_to_the_end(session& with, std::chrono::milliseconds limit, std::vector<attached_task>& tasks) {
  using clock = std::chrono::steady_clock;
  std::optional<clock::time_point> until;
  backoff pauses;
  for (;;) {
    drive(with, tasks);
    if (std::ranges::none_of(tasks, &attached_task::held)) return;
    if (!until) until = clock::now() + limit;
    const bool again = clock::now() < *until;
    if (again) std::this_thread::sleep_for(pauses.next());
    for (attached_task& task : tasks)
      if (task.held()) again ? task.go_on() : task.give_up_waiting();
  }
}

}  // namespace

void require_commands(const redis_url& url, const attachment& a) {
  if (url.commands == command_kind::bitfield && a.shape == attachment::form::growing)
    throw parameter_error("a growing filter needs scripts; leave commands=bitfield out of the URL");
}

attached_filter::attached_filter(std::shared_ptr<session_pool> pool, attachment a, std::string own,
                                 access how)
    : pool_(std::move(pool)), names_{std::move(a), std::move(own)}, spec_(spec_of(names_.to)), how_(how) {}

batch_result attached_filter::add(std::span<const partition_batch> batches) {
  if (how_ == access::read)
    return unanswered(batches, batch_failure::cause::storage,
                      "the filter was opened for reading; open it for writing to add keys");
  return run(batches, attached_task::purpose::add);
}

batch_result attached_filter::check(std::span<const partition_batch> batches) const {
  return run(batches, attached_task::purpose::check);
}

batch_result attached_filter::run(std::span<const partition_batch> batches,
                                  attached_task::purpose what) const {
  for (const partition_batch& batch : batches) std::ranges::fill(batch.out, verdict::unknown);
  std::optional<batch_failure> failure;
  try {
    failure = judge(batches, what);
  } catch (...) {  // the system has run out of memory or descriptors
    failure = batch_failure::from_current_exception();
  }
  return answered(batches, std::move(failure));
}

std::optional<batch_failure> attached_filter::judge(std::span<const partition_batch> batches,
                                                    attached_task::purpose what) const {
  const session_pool::lease with = pool_->take();
  std::vector<attached_task> tasks;
  for (const partition_batch& batch : batches) {
    EVERSEEN_ASSERT(batch.keys.size() == batch.out.size());
    for (located_keys& some : locate(names_.to, batch.keys))
      tasks.emplace_back(names_, what, std::move(some), batch.out, commands_now(*with));
  }
  drive_to_the_end(*with, std::min(pool_->url().retry_for, begins_within), tasks);
  std::optional<batch_failure> failure;
  for (const attached_task& task : tasks) {
    if (!task.learned().by_script && task.learned().may_change) no_scripts_ = true;
    newest_ = task.learned().newest;
    if (!failure) failure = task.failure();
  }
  return failure;
}

attached_task::commands attached_filter::commands_now(const session& with) const {
  const auto& commands = pool_->url().commands;
  const bool by_script = commands != command_kind::bitfield && !no_scripts_;
  return {with.name(), by_script || names_.to.shape == attachment::form::growing,
          by_script && commands != command_kind::script, newest_, pool_->keeps_answers()};
}

batch_path attached_filter::path() const {
  const session_pool::lease with = pool_->take();
  return {commands_now(*with).by_script ? "redis, attached, script" : "redis, attached, bitfield",
          {to_string(with->server_of({places_of(names_.to, 0).front().key, 0}))},
          {}};
}

std::vector<bitmap> attached_filter::survey() const {
  return redis::survey(*pool_->take(), names_.to);
}

std::vector<bitmap> attached_filter::strings() const {
  return measure(*pool_->take(), names_.to);
}

void attached_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  std::uint32_t number = 0;
  for (const bitmap_place& place : places_now(*pool_->take(), names_.to)) {
    std::vector<std::byte> bits;
    read_string(place, [&](std::string_view page) {
      const auto bytes = std::as_bytes(std::span(page));
      bits.insert(bits.end(), bytes.begin(), bytes.end());
    });
    const layer_state layer{
        {layout_kind::classic, static_cast<std::uint8_t>(names_.to.how.probes), bits.size()},
        spec_.capacity,
        0};
    visit({partition, window::timeless, number++}, layer, bits);
  }
}

void attached_filter::read_string(const bitmap_place& place,
                                  const std::function<void(std::string_view)>& take) const {
  redis::read_string(*pool_->take(), names_.to, place, take);
}

std::vector<key_bits> attached_filter::bits_of(std::string_view key) const {
  return redis::bits_of(*pool_->take(), names_.to, key);
}

}  // namespace everseen::redis
