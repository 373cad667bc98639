#include "everseen/serve/registry/shared_filter.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/partition/rates.hpp"
#include "everseen/serve/registry/filter_budget.hpp"

namespace everseen::serve {

shared_filter::shared_filter(std::string k, everseen::filter opened, const filter_facts& known,
                             requested_options w, std::shared_ptr<filter_record> r,
                             filter_budget::share taken, worker_pool& workers, join_queue::limits joined,
                             batch_stats& all)
    : key(std::move(k)),
      fingerprint(fingerprint_of(opened.get_spec())),
      handle(std::move(opened)),
      identity(known.identity),
      requested(w),
      planned_bytes(serve::planned_bytes(handle.get_spec())),
      room(std::move(taken)),
      record(std::move(r)),
      of_all(all),
      adds(counted(), question::add, workers, joined),
      checks(counted(), question::check, workers, joined) {
  set_expiry(known.expires_at);
}

namespace {

/// Clients may give the time of their keys: a joined batch gets one time for all.
constexpr std::chrono::milliseconds one_moment{100};

}  // namespace

void join_queue::submit(key_batch& batch, std::optional<event_time> when, std::function<void()> done,
                        std::shared_ptr<void> owner) noexcept {
  {
    const std::scoped_lock alone(lock_);
    waiting_.push_back({&batch, when, std::move(done)});
    if (in_flight_ == limits_.at_once) return;
    ++in_flight_;
  }
  workers_.submit([this, owner = std::move(owner)] { run(); });
}

void join_queue::run() {
  for (;;) {
    std::vector<waiting> together = take();
    if (together.empty()) return;
    judge(together);
    for (const waiting& each : together) each.done();
  }
}

/// Whether a batch fits into a joined batch of this many keys.
bool join_queue::fits(const waiting& next, std::size_t keys) const {
  if (keys + next.batch->keys.size() > limits_.keys) return false;
  const auto first = waiting_.front().when;
  return !first || !next.when || std::chrono::abs(*next.when - *first) <= one_moment;
}

std::vector<join_queue::waiting> join_queue::take() {
  const std::scoped_lock alone(lock_);
  std::size_t keys = 0;
  std::size_t count = 0;
  while (count < waiting_.size() && (count == 0 || fits(waiting_[count], keys)))
    keys += waiting_[count++].batch->keys.size();
  if (count == 0) --in_flight_;
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<waiting> together(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  return together;
}

void join_queue::judge(std::vector<waiting>& together) {
  if (together.size() == 1) {
    serve::judge(filter_, question_, *together.front().batch, together.front().when);
    return;
  }
  key_batch all;
  for (const waiting& each : together)
    all.keys.insert(all.keys.end(), each.batch->keys.begin(), each.batch->keys.end());
  // The times differ slightly, and time must not go back within a batch of a window.
  const auto newest = std::max_element(together.begin(), together.end(),
                                       [](const waiting& a, const waiting& b) { return a.when < b.when; });
  serve::judge(filter_, question_, all, newest->when);
  auto from = all.verdicts.cbegin();
  for (const waiting& each : together) {
    const auto end = from + static_cast<std::ptrdiff_t>(each.batch->keys.size());
    each.batch->verdicts.assign(from, end);
    each.batch->is_stale = all.is_stale;
    each.batch->fault = all.fault;
    each.batch->why = all.why;
    from = end;
  }
}

namespace {

constexpr std::chrono::milliseconds good_for{900};  // a client that polls each second gets new figures
constexpr std::chrono::seconds good_after_outage{5};

filter_figures::instance& instance_of(filter_figures& f, const std::string& place) {
  for (auto& each : f.instances)
    if (each.place == place) return each;
  return f.instances.emplace_back(filter_figures::instance{place});
}

}  // namespace

filter_figures figures_of(const filter_info& info) {
  filter_figures f;
  f.keys = info.keys;
  f.error_rate_now = std::clamp(info.error_rate_now, 0.0, 1.0);
  f.layers = info.max_layers;
  f.bytes = info.bytes;
  layer_sum all;
  std::set<window::slice_index> slices;
  for (std::size_t p = 0; p < info.partitions.size(); ++p) {
    layer_sum one;
    one.add(info.partitions[p]);
    all.add(info.partitions[p]);
    for (const slice_state& slice : info.partitions[p].slices) slices.insert(slice.index);
    auto& there = instance_of(f, info.places[p]);
    ++there.partitions;
    there.keys += one.keys;
    there.bytes += one.bytes;
  }
  f.fill = all.fill();
  f.slices = static_cast<std::uint32_t>(slices.size());
  return f;
}

void recent_figures::look_at(const filter& f, clock::time_point current_time) {
  {
    const std::scoped_lock alone(lock_);
    if (current_time < good_until_) return;
    good_until_ = current_time + good_for;
  }
  try {
    filter_figures now_there = figures_of(f.info());
    const std::scoped_lock alone(lock_);
    last_ = std::move(now_there);
  } catch (const error&) {
    const std::scoped_lock alone(lock_);
    good_until_ = clock::now() + good_after_outage;
  }
}

std::optional<filter_figures> recent_figures::last() const {
  const std::scoped_lock alone(lock_);
  return last_;
}

}  // namespace everseen::serve
