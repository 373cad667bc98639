#include "everseen/jobs/redis/redis_stream_source.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/port/source.hpp"
#include "everseen/jobs/redis/redis_stream_group.hpp"

namespace everseen {

namespace {

using redis_stream::consumer_name;

/// The consumers that a worker reads as, its own and those of dead workers, and its progress with each.
///
/// Threads: one reads, and only it adds, removes and gives; one other settles and asks for ownership.
class lanes {
 public:
  void add(const consumer_name& as);
  void remove(const std::string& name);
  /// Another process reads as this consumer now. The lane begins again, in a new generation, when this worker
  /// gets it back.
  void begin_again(const consumer_name& as);

  /// Starts after the consumer that was read last: they take turns, so that a lane that never runs dry does
  /// not starve the others, and each lease is renewed in time.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool contains(const std::string& name) const;

  struct place {
    consumer_name as;
    std::uint64_t after = 0;  ///< the last entry that was handed out
  };
  /// @pre contains(name)
  [[nodiscard]] place place_of(const std::string& name) const;

  /// Records the result of a reading.
  /// @param begins  the lease is new    @param nothing  there were no entries
  /// @return whether nothing is left, and everything handed out is settled
  bool note(const std::string& name, bool begins, bool nothing);
  /// Whether the last reading found nothing left; also true of a consumer that is not there.
  [[nodiscard]] bool is_read(const std::string& name) const;

  /// Turns the records that were read into a batch of the lane.    @pre there are some
  void give(const std::string& name, source_batch& into);

  /// The entries of a lane before a position, which were handed out and are settled now; each is returned
  /// once.
  [[nodiscard]] std::vector<std::uint64_t> take_settled(const checkpoint& reached);
  [[nodiscard]] source::ownership ownership_of(std::string_view lane, std::uint64_t generation) const;

 private:
  struct state {
    consumer_name as;
    std::uint64_t after = 0;
    std::deque<std::uint64_t> given{};  // and not settled
    std::uint64_t generation = 0;       // increases with each lease of this worker; 0: none
    bool begins = true;                 // nothing was handed out since the lease was taken
    bool read = false;
  };

  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, state> all_{};
  std::uint64_t generations_ = 0;
  std::string last_read_{};
};

void lanes::add(const consumer_name& as) {
  const std::lock_guard lock(mutex_);
  all_.try_emplace(as.name, state{as});
}

void lanes::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  all_.erase(name);
}

void lanes::begin_again(const consumer_name& as) {
  const std::lock_guard lock(mutex_);
  all_.insert_or_assign(as.name, state{as});
}

std::vector<std::string> lanes::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, each] : all_) names.push_back(name);
  std::rotate(names.begin(), std::ranges::upper_bound(names, last_read_), names.end());
  return names;
}

bool lanes::contains(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return all_.contains(name);
}

lanes::place lanes::place_of(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const state& entry = all_.at(name);
  return {entry.as, entry.after};
}

bool lanes::note(const std::string& name, bool begins, bool nothing) {
  const std::lock_guard lock(mutex_);
  state& entry = all_.at(name);
  if (begins || entry.generation == 0) {
    entry.generation = ++generations_;
    entry.begins = true;
    entry.given.clear();
  }
  entry.read = nothing;
  return entry.read && entry.given.empty();
}

bool lanes::is_read(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(name);
  return found == all_.end() || found->second.read;
}

void lanes::give(const std::string& name, source_batch& into) {
  const std::lock_guard lock(mutex_);
  state& from = all_.at(name);
  for (const source_record& each : into.records) from.given.push_back(each.position);
  from.after = into.records.back().position;
  last_read_ = name;
  into.lane = from.as.lane;
  into.next = from.after + 1;
  into.generation = from.generation;
  into.begins = std::exchange(from.begins, false);
}

std::vector<std::uint64_t> lanes::take_settled(const checkpoint& reached) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> done;
  for (auto& [name, each] : all_)
    for (auto& given = each.given;
         each.as.lane == reached.lane && !given.empty() && given.front() < reached.position;
         given.pop_front())
      done.push_back(given.front());
  return done;
}

source::ownership lanes::ownership_of(std::string_view lane, std::uint64_t generation) const {
  const std::lock_guard lock(mutex_);
  const bool ours = std::ranges::any_of(all_, [&](const auto& each) {
    return each.second.as.lane == lane && each.second.generation == generation;
  });
  return ours ? source::ownership::ours : source::ownership::gone;
}

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::string_view batch_entries = "1000";
constexpr milliseconds idle_pause{5};
constexpr milliseconds look_interval{500};

redis_stream_url completed(redis_stream_url url) {
  if (url.group.empty())
    throw parameter_error("a stream is read by a group; name it, as in redis-stream:" + url.stream +
                          "?group=count");
  if (url.consumer.empty()) url.consumer = machine_name();
  return url;
}

}  // namespace

class redis_stream_source::impl {
 public:
  impl(const redis_stream_url& url, const redis::redis_url& server)
      : url_(completed(url)), group_(url_, server), own_(group_.named(url_.consumer)) {}

  void begin(const std::map<std::string, checkpoint, std::less<>>& reached) {
    for (const auto& [name, position] : reached) settled_before_[name] = position.position;
    group_.create();
    const auto end = clock::now() + 2 * url_.claim_after;  // a worker of this name may have just crashed
    while (!group_.read(own_, 0, "1", false).held) {
      if (clock::now() >= end)
        throw backend_error("another worker reads " + url_.stream + " as " + own_.name + " of the group " +
                            url_.group + "; give each its own name: consumer=... If it is only taking " +
                            "over the entries that this one left, start again when it is done");
      std::this_thread::sleep_for(milliseconds(50));
    }
    lanes_.add(own_);
  }

  state next(source_batch& into, milliseconds wait) {
    const auto end = clock::now() + wait;
    for (;;) {
      if (clock::now() >= looked_ + look_interval) look();
      bool all_read = true;
      for (const std::string& name : lanes_.names()) {
        if (read(name, into)) return state::records;
        all_read = all_read && lanes_.is_read(name);
      }
      if (url_.until_end && all_read && nobody_elses_ && is_nothing_left()) return state::ended;
      if (clock::now() >= end) return state::nothing_yet;
      std::this_thread::sleep_for(std::min(idle_pause, wait));
    }
  }

  void settled(std::span<const checkpoint> settlements) {
    for (const checkpoint& each : settlements) group_.acknowledge(lanes_.take_settled(each));
  }

  ownership ownership_of(std::string_view name, std::uint64_t generation) const {
    return lanes_.ownership_of(name, generation);
  }

  void keep_alive() {
    for (const std::string& name : lanes_.names()) group_.prolong(group_.named(name));
  }

  void wait_with(const std::shared_ptr<retry_policy>& p) { group_.wait_with(p); }

  void finish() {
    for (const std::string& name : lanes_.names()) leave(name);
  }

  std::optional<std::uint64_t> lag() const {
    const std::int64_t known = lag_;
    return known < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(known));
  }

 private:
  void leave(const std::string& name) {
    group_.release(group_.named(name));
    lanes_.remove(name);
  }

  bool read(const std::string& name, source_batch& into) {
    const auto from = lanes_.place_of(name);  // only this thread adds and removes lanes
    const auto told = group_.read(from.as, from.after, batch_entries, name == own_.name);
    if (!told.held) return lost(name);
    if (redis_stream::read_entries(told.entries, url_.field, into) > 0) pass_over_gone(told.entries);
    const bool is_done = lanes_.note(name, told.begins, told.entries.size() == 0);
    if (is_done && name != own_.name) leave(name);
    if (into.records.empty()) return false;
    if (told.are_new) must_be_new(from.as.lane, into.records.front().position);
    lanes_.give(name, into);
    return true;
  }

  /// The ledger would consider an entry before its settled position settled.
  void must_be_new(const std::string& name, std::uint64_t position) const {
    const auto known = settled_before_.find(name);
    if (known == settled_before_.end() || position >= known->second) return;
    throw parameter_error(
        "the job has read " + url_.stream + " up to " + redis_stream::id_of(known->second - 1) +
        ", and it continues with the older " + redis_stream::id_of(position) +
        ": the stream was created again or its group was set back; count it under another --job");
  }

  /// Another worker reads as this consumer now, because this one was silent for too long. It releases a
  /// consumer name after it has processed the entries left there; so this worker gets its own back, in a new
  /// generation.
  bool lost(const std::string& name) {
    if (name == own_.name)
      lanes_.begin_again(own_);
    else
      lanes_.remove(name);
    nobody_elses_ = false;
    return false;
  }

  /// Another consumer may have got entries since the last look.    @pre nothing was there to read
  bool is_nothing_left() {
    const std::size_t lanes = lanes_.names().size();
    look();
    return nobody_elses_ && lanes_.names().size() == lanes;
  }

  /// Looks for consumers whose entries nobody reads, and for deleted entries.
  void look() {
    looked_ = clock::now();
    const auto seen = group_.current_view();
    lag_ = seen.lag;
    if (seen.lag > seen.length && !url_.skip_gaps)
      raise_gap(static_cast<std::uint64_t>(seen.lag - seen.length));
    nobody_elses_ = true;
    for (const auto& [name, idle] : seen.pending)
      if (!lanes_.contains(name)) take_over(name, idle);
  }

  /// A consumer without a lease that was active recently may belong to another program, or may have exited
  /// in order.
  void take_over(const std::string& name, milliseconds idle) {
    const auto dead = group_.named(name);
    if (idle > url_.claim_after && group_.read(dead, 0, "1", false).held)
      lanes_.add(dead);
    else
      nobody_elses_ = false;
  }

  [[noreturn]] void raise_gap(std::uint64_t entries) const {
    throw backend_error(
        std::to_string(entries) + " entries of the stream " + url_.stream +
        " are gone: it was trimmed before they were read; gap=skip continues with the remaining ones");
  }

  /// Entries that were delivered once, and trimmed before they were settled.
  void pass_over_gone(const redis::reply& entries) {
    std::vector<std::uint64_t> gone;
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i][1].is_nil()) gone.push_back(*redis_stream::position_of(entries[i][0].text()));
    if (!url_.skip_gaps) raise_gap(gone.size());
    group_.pass_over(gone);
  }

  redis_stream_url url_;
  redis_stream::group group_;
  redis_stream::consumer_name own_;
  std::map<std::string, std::uint64_t, std::less<>> settled_before_{};
  lanes lanes_{};
  std::atomic<std::int64_t> lag_ = -1;
  clock::time_point looked_{};
  bool nobody_elses_ = false;  // no live consumer has pending entries
};

redis_stream_source::redis_stream_source(const redis_stream_url& url, const redis::redis_url& server)
    : impl_(std::make_unique<impl>(url, server)) {}
redis_stream_source::~redis_stream_source() = default;

void redis_stream_source::begin(const std::map<std::string, checkpoint, std::less<>>& reached) {
  impl_->begin(reached);
}
source::state redis_stream_source::next(source_batch& into, std::chrono::milliseconds wait) {
  return impl_->next(into, wait);
}
checkpoint redis_stream_source::reached(const source_batch& batch) {
  return {batch.lane, batch.next};
}
void redis_stream_source::settled(std::span<const checkpoint> settlements) {
  impl_->settled(settlements);
}
source::ownership redis_stream_source::ownership_of(std::string_view lane, std::uint64_t generation) const {
  return impl_->ownership_of(lane, generation);
}
void redis_stream_source::keep_alive() {
  impl_->keep_alive();
}
void redis_stream_source::wait_with(const std::shared_ptr<retry_policy>& p) {
  impl_->wait_with(p);
}
void redis_stream_source::finish() {
  impl_->finish();
}
std::string redis_stream_source::place_of(std::string_view lane, std::uint64_t position) const {
  return "the entry " + redis_stream::id_of(position) + " of " + std::string(lane);
}
std::optional<std::uint64_t> redis_stream_source::lag() const {
  return impl_->lag();
}

std::string machine_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "worker";
  return name;
}

}  // namespace everseen
