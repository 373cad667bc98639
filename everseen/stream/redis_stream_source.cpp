#include "everseen/stream/redis_stream_source.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <unistd.h>

#include "everseen/core/error.hpp"
#include "everseen/redis/session.hpp"
#include "everseen/stream/redis_stream_entries.hpp"
#include "everseen/stream/redis_stream_scripts.hpp"

namespace everseen {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::string_view batch_entries = "1000";
constexpr milliseconds idle_pause{5};
constexpr milliseconds look_interval{500};
constexpr std::size_t acknowledged_at_once = 1'000;

std::string machine_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "worker";
  return name;
}

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
      : url_(completed(url)), reading_(server), settling_(server), where_{url_.stream, 0} {
    if (server.shape == redis::redis_url::topology::many)
      throw parameter_error(
          "a stream is on one server; name that behind @, as in "
          "redis-stream:clicks?group=g@redis://host:6379");
  }

  void begin(const std::map<std::string, checkpoint, std::less<>>& reached) {
    for (const auto& [lane, at] : reached) settled_before_[lane] = at.position;
    make_group();
    const auto end = clock::now() + 2 * url_.claim_after;  // a worker of this name may have died just now
    consumer& own = lane_of(url_.consumer);
    while (!hold(own)) {
      if (clock::now() >= end)
        throw parameter_error("another worker reads " + url_.stream + " as " + url_.consumer +
                              " of the group " + url_.group + "; give each its own name: consumer=...");
      std::this_thread::sleep_for(milliseconds(50));
    }
  }

  state next(source_batch& into, milliseconds wait) {
    const auto end = clock::now() + wait;
    for (;;) {
      if (clock::now() >= looked_ + look_interval) look();
      bool all_read = true;
      for (const std::string& name : names()) {
        if (read(name, into)) return state::records;
        all_read = all_read && is_read(name);
      }
      if (url_.until_end && all_read && nobody_elses_) return state::ended;
      if (clock::now() >= end) return state::nothing_yet;
      std::this_thread::sleep_for(std::min(idle_pause, wait));
    }
  }

  void settled(std::span<const checkpoint> put_down) {
    for (const checkpoint& each : put_down) {
      std::vector<std::uint64_t> done;
      {
        const std::lock_guard lock(mutex_);
        for (auto& [name, lane] : consumers_)
          if (lane.lane == each.source) {
            while (!lane.given.empty() && lane.given.front() < each.position) {
              done.push_back(lane.given.front());
              lane.given.pop_front();
            }
          }
      }
      acknowledge(done);
    }
  }

  bool has(std::string_view lane) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(consumers_, [&](const auto& each) { return each.second.lane == lane; });
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, lane] : consumers_) release(lane);
    consumers_.clear();
  }

  std::optional<std::uint64_t> lag() const {
    const std::int64_t known = lag_;
    return known < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(known));
  }

 private:
  /// One that this worker reads as: itself, or one that died.
  struct consumer {
    std::string name;
    std::string lane;
    std::string lease;
    std::uint64_t after = 0;            // the last entry that was given out
    std::deque<std::uint64_t> given{};  // and not settled
    bool begins = true;                 // nothing was given out since its lease is ours
    bool read = false;                  // nothing was left, when it was read last
  };

  redis::reply ask(redis::session& with, std::initializer_list<std::string_view> words) {
    return with.ask(where_, words, true);
  }

  void make_group() {
    const redis::request r{
        where_, redis::encode({"XGROUP", "CREATE", url_.stream, url_.group, url_.from_latest ? "$" : "0"}), 1,
        true};
    auto answered = reading_.exchange(std::span(&r, 1));
    if (!answered.front()) throw backend_error(answered.front().error().message);
    const redis::reply& told = answered.front()->front();
    if (!told.is_error() || told.is_error("BUSYGROUP")) return;
    if (told.text().find("requires the key to exist") != std::string_view::npos)
      throw parameter_error("there is no stream " + url_.stream + " on " +
                            to_string(reading_.server_of(where_)) +
                            "; check its name, or add its first entry: XADD " + url_.stream + " * ...");
    throw backend_error("redis at " + to_string(reading_.server_of(where_)) + ": " +
                        std::string(told.text()));
  }

  consumer& lane_of(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = consumers_.try_emplace(name);
    if (is_new) {
      const std::string lane = url_.group + '/' + name;
      found->second = {name, url_.stream + '/' + lane, key_beside(url_.stream, "lease:" + lane)};
    }
    return found->second;
  }

  std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> all;
    for (const auto& [name, lane] : consumers_) all.push_back(name);
    return all;
  }

  bool is_read(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = consumers_.find(name);
    return found == consumers_.end() || found->second.read;
  }

  redis::reply ask_for_entries(const consumer& as, std::string_view count) {
    const std::string life = std::to_string(url_.claim_after.count());
    const std::string after = redis_stream::id_of(as.after);
    return ask(reading_, {"EVAL", redis_stream::read, "2", url_.stream, as.lease, url_.group, as.name,
                          reading_.name(), life, after, count, as.name == url_.consumer ? "1" : "0"});
  }

  /// Takes the lease of a consumer, reading nothing new yet.
  bool hold(consumer& as) {
    const std::string life = std::to_string(url_.claim_after.count());
    return ask(reading_, {"EVAL", redis_stream::read, "2", url_.stream, as.lease, url_.group, as.name,
                          reading_.name(), life, "0", "1", "0"})
               .what() == redis::reply::kind::array;
  }

  bool read(const std::string& name, source_batch& into) {
    consumer& as = lane_of(name);
    const redis::reply told = ask_for_entries(as, batch_entries);
    if (told.what() != redis::reply::kind::array) return lost(as);
    const bool begins = told[0].integer() == 1;
    const bool is_new = told[1].integer() == 1;
    const std::size_t gone = redis_stream::read_entries(told[2], url_.field, into);
    if (gone > 0) acknowledge_gone(told[2], gone);
    const std::lock_guard lock(mutex_);
    as.read = told[2].size() == 0;
    if (begins) as.begins = true, as.given.clear();
    if (into.records.empty()) {
      if (as.read && as.given.empty() && name != url_.consumer) drop(name);
      return false;
    }
    if (is_new) must_be_new(as, into.records.front().position);
    for (const source_record& each : into.records) as.given.push_back(each.position);
    as.after = into.records.back().position;
    into.lane = as.lane;
    into.next = as.after + 1;
    into.begins = std::exchange(as.begins, false);
    return true;
  }

  /// The ledger would take an entry that lies before what it has settled for a settled one.
  void must_be_new(const consumer& as, std::uint64_t position) const {
    const auto known = settled_before_.find(as.lane);
    if (known == settled_before_.end() || position >= known->second) return;
    throw parameter_error(
        "the job has read " + url_.stream + " up to " + redis_stream::id_of(known->second - 1) +
        ", and it goes on with the older " + redis_stream::id_of(position) +
        ": the stream was made anew or its group was set back; count it under another --job");
  }

  /// Somebody else reads as this consumer now.
  bool lost(consumer& as) {
    if (as.name == url_.consumer)
      throw backend_error("another worker has taken over what " + url_.consumer + " was reading of " +
                          url_.stream + ", because it was silent for longer than claim_after=" +
                          std::to_string(url_.claim_after.count()) + "ms; nothing is lost: start it again");
    const std::lock_guard lock(mutex_);
    consumers_.erase(consumers_.find(as.name));
    return false;
  }

  void drop(const std::string& name) {
    release(consumers_.at(name));
    consumers_.erase(name);
  }

  void release(const consumer& as) {
    // What cannot be given back ends by itself.
    const redis::request r{{as.lease, 0},
                           redis::encode({"EVAL", redis_stream::release, "1", as.lease, reading_.name()}),
                           1,
                           true};
    static_cast<void>(reading_.exchange(std::span(&r, 1)));
  }

  /// Looks who else has entries that nobody reads, and whether entries are gone.
  void look() {
    looked_ = clock::now();
    const redis::reply told = ask(reading_, {"EVAL", redis_stream::look, "1", url_.stream, url_.group});
    if (told.what() != redis::reply::kind::array)
      throw backend_error("the group " + url_.group + " of the stream " + url_.stream +
                          " was removed while it was read; start again, under another --job if it is to be "
                          "read from its beginning");
    const std::int64_t length = told[0].integer(), lag = told[1].integer();
    lag_ = lag;
    if (lag > length && !url_.skip_gaps) raise_gap(static_cast<std::uint64_t>(lag - length));
    nobody_elses_ = true;
    for (std::size_t i = 2; i + 1 < told.size(); i += 2)
      if (told[i + 1].integer() > 0 && told[i].text() != url_.consumer)
        take_over(std::string(told[i].text()));
  }

  void take_over(const std::string& name) {
    {
      const std::lock_guard lock(mutex_);
      if (consumers_.contains(name)) return;
    }
    consumer& dead = lane_of(name);
    if (hold(dead)) return;
    nobody_elses_ = false;
    const std::lock_guard lock(mutex_);
    consumers_.erase(name);
  }

  [[noreturn]] void raise_gap(std::uint64_t entries) const {
    throw backend_error(
        std::to_string(entries) + " entries of the stream " + url_.stream +
        " are gone: it was trimmed before they were read; gap=skip goes on with what is left");
  }

  void acknowledge_gone(const redis::reply& entries, std::size_t gone) {
    if (!url_.skip_gaps) raise_gap(gone);
    std::vector<std::uint64_t> ids;
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i][1].is_nil()) ids.push_back(*redis_stream::position_of(entries[i][0].text()));
    acknowledge_with(reading_, ids);
  }

  void acknowledge(const std::vector<std::uint64_t>& done) { acknowledge_with(settling_, done); }

  void acknowledge_with(redis::session& with, const std::vector<std::uint64_t>& done) {
    for (std::size_t from = 0; from < done.size(); from += acknowledged_at_once) {
      const std::size_t end = std::min(done.size(), from + acknowledged_at_once);
      std::vector<std::string> ids;
      for (std::size_t i = from; i < end; ++i) ids.push_back(redis_stream::id_of(done[i]));
      std::vector<std::string_view> words = {"XACK", url_.stream, url_.group};
      words.insert(words.end(), ids.begin(), ids.end());
      const redis::request r{where_, redis::encode(words), 1, true};
      const auto answered = with.exchange(std::span(&r, 1));
      if (!answered.front()) throw backend_error(answered.front().error().message);
    }
  }

  redis_stream_url url_;
  redis::session reading_, settling_;  // a session a thread
  redis::route where_;
  std::map<std::string, std::uint64_t, std::less<>> settled_before_{};
  mutable std::mutex mutex_{};  // of what follows; a consumer itself is changed by the reading thread alone
  std::map<std::string, consumer> consumers_{};
  std::atomic<std::int64_t> lag_ = -1;
  clock::time_point looked_{};
  bool nobody_elses_ = false;  // no consumer that lives has entries pending
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
void redis_stream_source::settled(std::span<const checkpoint> put_down) {
  impl_->settled(put_down);
}
bool redis_stream_source::has(std::string_view lane) const {
  return impl_->has(lane);
}
void redis_stream_source::finish() {
  impl_->finish();
}
std::optional<std::uint64_t> redis_stream_source::lag() const {
  return impl_->lag();
}

}  // namespace everseen
