#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/redis/filter/filter_expiry.hpp"
#include "everseen/redis/filter/sealable_filter.hpp"
#include "everseen/redis/journal/mirror_set.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/keyspace/name_index.hpp"
#include "everseen/redis/ledger/job_ledger.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen::redis {

namespace {

/// A filter on Redis servers that its clients judge: a server keeps the order in which keys were added, each
/// client the bits.
///
///     key ──> mirror has it: seen, without a request to the server
///         └─> mirror lacks it ──> record ──> compare and append ──added──> fresh, and set in the mirror
///                        ^                         └──another client was faster──┐
///                        └──────────────── read on, judge again <────────────────┘
///
/// A partition's mirror is loaded when it is first used. A key that another client added is `seen` here as
/// soon as this client asks the server about the key's partition. It does so before it calls any key `fresh`,
/// and once a second while it is in use. As often, it checks whether the filter has expired (filter_life).
///
/// Memory: the size of the filter, in each process that has it open. Threads: any number; two batches wait
/// for each other only if they have keys of the same partition.
class mirrored_filter final : public sealable_filter {
 public:
  mirrored_filter(std::shared_ptr<connection_pool> pool, std::string name, const filter_identity& f,
                  access mode);

  [[nodiscard]] std::optional<image::filter_id> successor() const override { return mirrors_.successor(); }
  void move_window_to(window::slice_index newest) override;
  void ignore_staleness() noexcept override { may_be_stale_ = false; }
  void clear() override { mirrors_.clear(); }

  batch_result add(std::span<const partition_batch> batches) override;
  /// First asks where each journal ends, so that it knows of every key that was acknowledged before. Skips
  /// this if it was asked as recently as `staleness=` of the URL allows.
  batch_result check(std::span<const partition_batch> batches) const override;
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  void must_fit(const sibling_source& siblings) const override;
  void merge(const sibling_source& siblings) override;
  [[nodiscard]] batch_path path() const override { return path_by("redis, judged here"); }

 private:
  [[nodiscard]] std::unique_ptr<ledger> ledger_of(std::string job, listed_job listed) override;
  void require_life(server_connections& connections) const override { mirrors_.require_life(connections); }
  [[nodiscard]] std::optional<tally> check_unasked(const partition_batch& batch) const;
  /// @param fields  end and successor, as just read from the server
  [[nodiscard]] tally check_in(server_connections& connections, const partition_batch& batch,
                               const reply& fields, std::chrono::steady_clock::time_point asked) const;

  mutable mirror_set mirrors_;
  std::atomic<bool> may_be_stale_ = true;
};

/// @param most  keys
partition_batch part_of(const partition_batch& batch, std::size_t from, std::size_t most) {
  const std::size_t count = std::min(batch.digests.size() - from, most);
  return {batch.partition, batch.digests.subspan(from, count),
          batch.times.size() > 1 ? batch.times.subspan(from, count) : batch.times,
          batch.out.subspan(from, count)};
}

/// Adds the keys of one partition.
class adding final : public mirror_task {
 public:
  /// @pre  the whole batch is `unknown`
  adding(partition_mirror& mirror, const partition_batch& batch) : mirror_task(mirror), batch_(batch) {}

 private:
  /// A key may be `seen` by a record that replicas lack. A record of this client waits for them; if there is
  /// none, an append of nothing does.
  std::optional<script_call> go_on(server_connections& connections) override {
    while (from_ < batch_.digests.size()) {
      reach_ = mirror().prepare(part_of(batch_, from_, most_keys(connections)), predictor::no_room::skips);
      if (mirror().has_record()) return mirror().append_call();
      take_reach();
    }
    if (!mirror().leads_replicas()) return std::nullopt;
    return mirror().replication_call();
  }

  void take_reach() {
    from_ += std::exchange(reach_.judged, 0);
    if (reach_.full && !failure()) fail(*std::move(reach_.full));
  }

  void done() override {
    take_reach();
    certain_ = from_;
  }

  /// Nothing is certain about keys of the record in flight, nor about keys that replicas may lack.
  void give_up() noexcept override {
    const std::size_t kept = mirror().leads_replicas() ? certain_ : from_;
    std::fill(batch_.out.begin() + static_cast<std::ptrdiff_t>(kept), batch_.out.end(), verdict::unknown);
  }

  const partition_batch batch_;
  std::size_t from_ = 0;     // the keys before it have their verdicts
  std::size_t certain_ = 0;  // the keys before it are on the replicas
  prediction reach_{};
};

/// Moves the window of one partition.
class moving final : public mirror_task {
 public:
  moving(partition_mirror& mirror, window::slice_index newest) : mirror_task(mirror), newest_(newest) {}

 private:
  std::optional<script_call> go_on(server_connections&) override {
    mirror().prepare_move(newest_);
    if (mirror().has_record()) return mirror().append_call();
    // It may have been moved by a call that was not acknowledged.
    if (mirror().leads_replicas()) return mirror().replication_call();
    return std::nullopt;
  }
  void done() override {}
  void give_up() noexcept override {}

  const window::slice_index newest_;
};

/// Adds all keys of siblings to one partition.
class merging final : public mirror_task {
 public:
  merging(partition_mirror& mirror, std::span<const sibling_segment> siblings)
      : mirror_task(mirror), siblings_(siblings) {}

 private:
  /// The journal may be read between records, but a long one that is refused is sent again.
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;
  static constexpr std::size_t most_bytes_over_a_poor_link = std::size_t{4} << 10;

  std::optional<script_call> go_on(server_connections& connections) override {
    mirror().prepare_merge(siblings_, begins_,
                           has_lost_answers(connections) ? most_bytes_over_a_poor_link : most_bytes);
    if (mirror().has_record()) return mirror().append_call();
    // What this partition lacked before may have been merged by a call that was not acknowledged.
    if (mirror().leads_replicas()) return mirror().replication_call();
    return std::nullopt;
  }
  void done() override { begins_ = false; }
  void give_up() noexcept override {}

  const std::span<const sibling_segment> siblings_;
  bool begins_ = true;
};

/// @throws parameter_error
void must_be_strings(std::span<const sibling_segment> siblings) {
  for (const sibling_segment& each : siblings)
    if (const auto excess = partition_keys::excess_of(each.layer.shape); !excess.empty())
      throw parameter_error("the siblings cannot be merged on Redis servers: " + std::string(excess));
}

}  // namespace

mirrored_filter::mirrored_filter(std::shared_ptr<connection_pool> pool, std::string name,
                                 const filter_identity& f, access mode)
    : sealable_filter(std::move(pool), std::move(name), f, mode), mirrors_(identity(), this->pool()->url()) {}

batch_result mirrored_filter::add(std::span<const partition_batch> batches) {
  if (!may_write())
    return unanswered(batches, batch_failure::cause::storage,
                      "the filter was opened for reading; open it for writing to add keys");
  std::vector<std::uint32_t> partitions;
  for (const partition_batch& batch : batches) {
    partitions.push_back(batch.partition);
    std::ranges::fill(batch.out, verdict::unknown);
  }
  const connection_pool::lease connections = session_now();
  auto failure = mirrors_.run(*connections, partitions, [&](std::size_t i, partition_mirror& mirror) {
    return std::make_unique<adding>(mirror, batches[i]);
  });
  return answered(batches, std::move(failure));
}

void mirrored_filter::move_window_to(window::slice_index newest) {
  std::vector<std::uint32_t> all(get_spec().partitions);
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  const auto failure = mirrors_.run(
      *session_now(), all, [&](std::size_t, partition_mirror& mirror) -> std::unique_ptr<mirror_task> {
        return std::make_unique<moving>(mirror, newest);
      });
  if (failure) failure->raise();
}

batch_result mirrored_filter::check(std::span<const partition_batch> batches) const {
  tally done;
  std::optional<batch_failure> failure;
  try {
    const connection_pool::lease connections = session_now();
    require_life(*connections);
    std::vector<request> requests;
    std::vector<const partition_batch*> asking;
    for (const partition_batch& batch : batches) {
      if (const auto judged = check_unasked(batch)) {
        done += *judged;
        continue;
      }
      asking.push_back(&batch);
      const route destination = mirrors_[batch.partition].place();
      requests.push_back({destination, encode({"HMGET", destination.key, "end", "successor"}), 1, true});
    }
    const auto asked = std::chrono::steady_clock::now();
    const std::vector<answer> ends = connections->exchange(requests);
    for (std::size_t i = 0; i < asking.size(); ++i) {
      try {
        done += check_in(*connections, *asking[i], expect_reply(ends[i], requests[i].destination.key), asked);
      } catch (const error&) {  // the other partitions have their answers
        batch_failure one = batch_failure::from_current_exception();
        (void)unanswered({asking[i], 1}, one.why, {});
        done.unknown += asking[i]->out.size();
        if (!failure) failure = std::move(one);
      }
    }
  } catch (const error&) {
    batch_failure all = batch_failure::from_current_exception();
    return unanswered(batches, all.why, all.message);
  }
  if (!failure) return done;
  failure->done = done;
  return tl::unexpected(*std::move(failure));
}

/// @return nothing: the server must be asked
std::optional<tally> mirrored_filter::check_unasked(const partition_batch& batch) const {
  partition_mirror& mirror = mirrors_[batch.partition];
  if (!may_be_stale_ || pool()->url().staleness.count() == 0) return std::nullopt;
  const std::scoped_lock order(mirror.order());
  if (mirror.is_empty() || mirror.unasked() > pool()->url().staleness) return std::nullopt;
  return mirror.check(batch);
}

tally mirrored_filter::check_in(server_connections& connections, const partition_batch& batch,
                                const reply& fields, std::chrono::steady_clock::time_point asked) const {
  partition_mirror& mirror = mirrors_[batch.partition];
  const std::scoped_lock order(mirror.order());
  if (mirror.is_empty())
    mirror.load(connections);
  else
    mirror_set::take_end(connections, mirror, fields, asked);
  mirrors_.note_successor(mirror);
  return mirror.check(batch);
}

partition_state mirrored_filter::state(std::uint32_t partition) const {
  partition_mirror& mirror = mirrors_[partition];
  const connection_pool::lease connections = session_now();
  require_life(*connections);
  const std::scoped_lock order(mirror.order());
  mirror_set::bring_up_to_date(*connections, mirror);
  mirrors_.note_successor(mirror);
  return mirror.state();
}

void mirrored_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  partition_mirror& mirror = mirrors_[partition];
  const connection_pool::lease connections = session_now();
  require_life(*connections);
  const std::scoped_lock order(mirror.order());
  mirror_set::bring_up_to_date(*connections, mirror);
  mirrors_.note_successor(mirror);
  for (const announced_filter::segment& s : segments_of(partition, mirror.state().slices))
    visit(s.id, s.layer, {mirror.bits(s.id), s.layer.shape.bytes});
}

void mirrored_filter::must_fit(const sibling_source& siblings) const {
  must_take_siblings();
  for (std::uint32_t p = 0; p < get_spec().partitions; ++p)
    siblings(p, [&](std::span<const sibling_segment> theirs) {
      must_be_strings(theirs);
      partition_mirror& mirror = mirrors_[p];
      const connection_pool::lease connections = session_now();
      require_life(*connections);
      const std::scoped_lock order(mirror.order());
      mirror_set::bring_up_to_date(*connections, mirror);
      mirrors_.note_successor(mirror);
      mirror.must_fit(theirs);
    });
}

void mirrored_filter::merge(const sibling_source& siblings) {
  must_take_siblings();
  for (std::uint32_t p = 0; p < get_spec().partitions; ++p)
    siblings(p, [&](std::span<const sibling_segment> theirs) {
      must_be_strings(theirs);
      const auto failure =
          mirrors_.run(*session_now(), std::span(&p, 1),
                       [&](std::size_t, partition_mirror& mirror) -> std::unique_ptr<mirror_task> {
                         return std::make_unique<merging>(mirror, theirs);
                       });
      if (failure) failure->raise();
    });
}

std::unique_ptr<ledger> mirrored_filter::ledger_of(std::string job, listed_job listed) {
  return open_journal_ledger(pool(), mirrors_, name(), std::move(job), std::move(listed), may_write());
}

std::shared_ptr<sealable_filter> open_mirrored(std::shared_ptr<connection_pool> pool, std::string name,
                                               const filter_identity& f, access mode) {
  return std::make_shared<mirrored_filter>(std::move(pool), std::move(name), f, mode);
}

}  // namespace everseen::redis
