#include "everseen/redis/filter/filter_end.hpp"

#include <algorithm>
#include <vector>

#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/journal/journal_scripts.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

namespace {

/// Somebody else gives it an end each time: then something is broken.
constexpr int most_attempts = 100;
constexpr std::size_t at_once = 256;

storage_error changes_too_fast(const filter_identity& f) {
  return storage_error("the filter changes faster than it can be given an end", 0, f.keys.header());
}

parameter_error is_being_rebuilt(const std::string& name) {
  return parameter_error(
      "'" + name +
      "' is being rebuilt, and cannot be given another end; finish the rebuild, or begin it again");
}

filter_header header_of(session& with, const filter_identity& f) {
  auto h = read_filter_header(with, f);
  if (!h) throw filter_is_gone(f.keys.header());
  return *std::move(h);
}

/// The states first: what is made after that has its limit from there.
void limit_states(session& with, const filter_identity& f, const std::string& limit) {
  std::vector<script_call> calls;
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    const std::string key = f.keys.state(p);
    calls.push_back({&journal_scripts::limit(), {key, p}, {key}, {limit}});
    if (calls.size() < at_once && p + 1 < f.spec.partitions) continue;
    const std::vector<answer> answers = run_scripts(with, calls);
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (expect_reply(answers[i], calls[i].to.key)[0].text() == "M") throw filter_is_gone(calls[i].to.key);
    calls.clear();
  }
}

void limit_keys(session& with, const filter_identity& f, const std::string& limit) {
  std::vector<route> keys;
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p)
    for (const std::string& key : strings_of(with, f, p)) keys.push_back({key, p});
  for (const auto& [name, job] : job_list({}, f).all(with)) {
    const job_keys of(f.keys, job.id);
    for (std::uint32_t p = 0; p < f.spec.partitions; ++p) keys.push_back({of.lanes(p), p});
    keys.push_back({of.checkpoints(), 0});
  }
  keys.push_back({job_keys::list(f.keys), 0});
  std::vector<request> requests;
  for (const route& key : keys) {
    requests.push_back(
        {key, limit.empty() ? encode({"PERSIST", key.key}) : encode({"PEXPIREAT", key.key, limit}), 1, true});
    if (requests.size() < at_once && &key != &keys.back()) continue;
    const std::vector<answer> answers = with.exchange(requests);
    for (std::size_t i = 0; i < answers.size(); ++i) (void)expect_reply(answers[i], requests[i].to.key);
    requests.clear();
  }
}

void set_limits(session& with, const filter_identity& f, std::optional<event_time> end, event_time now) {
  const std::string limit = end ? to_text(limit_of(*end, now)) : std::string();
  limit_states(with, f, limit);
  limit_keys(with, f, limit);
}

bool is_later(std::optional<event_time> when, std::optional<event_time> than) {
  return than && (!when || *when > *than);
}

}  // namespace

void give_limits(session& with, const filter_identity& f) {
  for (int i = 0; i < most_attempts; ++i) {
    const filter_header h = header_of(with, f);
    if (h.has_limits) return;
    set_limits(with, f, h.expires_at, h.now);
    if (note_limits(with, f, h.expires_at)) return;
  }
  throw changes_too_fast(f);
}

void end_at(session& with, const std::string& name, const filter_identity& f,
            std::optional<event_time> when) {
  for (int i = 0; i < most_attempts; ++i) {
    const filter_header h = header_of(with, f);
    if (h.is_over()) throw filter_has_ended(name);
    if (h.after || h.next) throw is_being_rebuilt(name);
    require_no_jobs(name, job_list(name, f).names(with), "be given another end");
    if (is_later(when, h.expires_at)) set_limits(with, f, when, h.now);
    switch (change_end(with, f, h.expires_at, when)) {
      case end_change::done:
        return give_limits(with, f);
      case end_change::over:
        throw filter_has_ended(name);
      case end_change::rebuilt:
        throw is_being_rebuilt(name);
      case end_change::gone:
        throw filter_is_gone(f.keys.header());
      case end_change::superseded:
      case end_change::has_jobs:
        break;  // since we looked
    }
  }
  throw changes_too_fast(f);
}

}  // namespace everseen::redis
