#include "everseen/redis/filter/filter_expiry.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "everseen/core/base/names.hpp"
#include "everseen/redis/filter/limit_round.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/job_keys.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen::redis {

namespace {

/// If other clients change the expiry time this often, something is broken.
constexpr int most_expiry_attempts = 100;
constexpr std::size_t expiries_at_once = 256;
/// A client that has not finished a change by then has crashed.
constexpr std::chrono::minutes given_up_after{1};

storage_error changes_too_fast(const filter_identity& f) {
  return storage_error("the filter changes faster than its expiry time can be set", 0, f.keys.header());
}

parameter_error is_being_rebuilt(const std::string& name) {
  return parameter_error(
      quoted_name(name) +
      " is being rebuilt, and its expiry time cannot be changed; finish the rebuild, or begin it again");
}

filter_header header_of(session& with, const filter_identity& f) {
  auto h = read_filter_header(with, f);
  if (!h) throw filter_is_gone(f.keys.header());
  return *std::move(h);
}

/// Gives keys of a filter's partitions the limits of a round or, in an odd one, removes them.
class limiting {
 public:
  /// @param now  by the clock of the header's server
  limiting(session& with, const filter_identity& f, const limit_round& in, event_time now)
      : with_(with),
        f_(f),
        round_(std::to_string(in.number)),
        limit_(in.number % 2 == 0 && in.end ? to_text(limit_of(*in.end, now)) : std::string()) {
    for (const auto& [name, job] : job_list({}, f).all(with)) jobs_.emplace_back(f.keys, job.id);
  }

  /// All states come before any other key: keys created later get their limit from their state.
  /// @return a later round that one of them has seen; nothing: all is done
  [[nodiscard]] std::optional<std::uint64_t> run() {
    for (std::uint32_t p = 0; p < f_.spec.partitions && !later_; ++p) begin_call(p);
    send();
    for (std::uint32_t p = 0; p < f_.spec.partitions && !later_; ++p) {
      std::vector<std::string> keys = strings_of(with_, f_, p);
      for (const job_keys& job : jobs_) keys.push_back(job.lanes(p));
      begin_call(p);
      for (std::string& key : keys) {
        if (calls_.back().keys.size() == expiries_at_once) begin_call(p);
        calls_.back().keys.push_back(std::move(key));
      }
    }
    send();
    return later_;
  }

  [[nodiscard]] const std::string& limit() const noexcept { return limit_; }
  /// In the slot of the header.
  [[nodiscard]] std::vector<std::string> keys_beside_header() const {
    std::vector<std::string> keys = {job_keys::list(f_.keys), job_keys::gone(f_.keys)};
    for (const job_keys& job : jobs_) keys.push_back(job.checkpoints());
    return keys;
  }

 private:
  void begin_call(std::uint32_t partition) {
    if (calls_.size() == expiries_at_once) send();
    const std::string state = f_.keys.state(partition);
    calls_.push_back({&journal_scripts::limit(), {state, partition}, {state}, {round_, limit_}});
  }

  void send() {
    const std::vector<answer> answers = run_scripts(with_, calls_);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const reply& said = expect_reply(answers[i], calls_[i].to.key);
      if (said[0].text() == "M") throw filter_is_gone(calls_[i].to.key);
      if (said[0].text() == "S")
        later_ = std::max(later_.value_or(0), static_cast<std::uint64_t>(said[1].integer()));
    }
    calls_.clear();
  }

  session& with_;
  const filter_identity& f_;
  const std::string round_, limit_;
  std::vector<job_keys> jobs_{};
  std::vector<script_call> calls_{};
  std::optional<std::uint64_t> later_{};
};

/// The next round of the same kind.
std::uint64_t behind(std::uint64_t later, std::uint64_t round) noexcept {
  return later + 2 - (later ^ round) % 2;
}

bool is_later(std::optional<event_time> when, std::optional<event_time> than) {
  return than && (!when || *when > *than);
}

}  // namespace

void give_limits(session& with, const filter_identity& f) {
  for (int i = 0; i < most_expiry_attempts; ++i) {
    const filter_header h = header_of(with, f);
    if (h.has_limits) return;
    if (h.is_being_changed()) {
      if (h.now - h.round_began < given_up_after) return;
      raise_round(with, f, h.round, h.round + 1);
      continue;
    }
    const limit_round now{h.round, h.expires_at};
    limiting all(with, f, now, h.now);
    if (const auto later = all.run())
      raise_round(with, f, h.round, behind(*later, h.round));
    else if (note_limits(with, f, now, all.limit(), all.keys_beside_header()))
      return;
  }
  throw changes_too_fast(f);
}

void expire_at(session& with, const std::string& name, const filter_identity& f,
               std::optional<event_time> when) {
  for (int i = 0; i < most_expiry_attempts; ++i) {
    const filter_header h = header_of(with, f);
    if (h.has_expired()) throw filter_has_expired(name);
    if (h.after || h.next) throw is_being_rebuilt(name);
    require_no_jobs(name, job_list(name, f).names(with), "get another expiry time");
    const auto odd = begin_change(with, f, h.expires_at);
    if (!odd) continue;
    if (is_later(when, odd->end))
      if (const auto later = limiting(with, f, *odd, h.now).run()) {
        raise_round(with, f, odd->number, behind(*later, odd->number));
        continue;
      }
    switch (change_expiry(with, f, *odd, when)) {
      case expiry_change::done:
        return give_limits(with, f);
      case expiry_change::over:
        throw filter_has_expired(name);
      case expiry_change::rebuilt:
        throw is_being_rebuilt(name);
      case expiry_change::gone:
        throw filter_is_gone(f.keys.header());
      case expiry_change::superseded:
      case expiry_change::has_jobs:
        break;  // since we looked
    }
  }
  throw changes_too_fast(f);
}

}  // namespace everseen::redis
