#include <span>
#include <string>
#include <utility>

#include "everseen/redis/claim_scripts.hpp"
#include "everseen/redis/command.hpp"
#include "everseen/redis/job_counters.hpp"
#include "everseen/redis/jobs.hpp"
#include "everseen/redis/random_name.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/upkeep.hpp"

/// The end of a job, and what it keeps until then.
namespace everseen::redis {

namespace {

/// Adds what a partition keeps of a job.
void add_size_of(session& with, const remote_filter& f, std::uint32_t partition, std::string_view job,
                 job_size& all) {
  const std::string state = f.keys.state(f.generation, partition);
  visit_counters_of(with, f, partition, job, [&](std::string_view, std::int64_t) { ++all.counters; });
  const std::string key = partition_keys::lane_records(state, job);
  const request asked{{state, partition}, encode({"MEMORY", "USAGE", key}), 1, true};
  const answer told = std::move(with.exchange(std::span(&asked, 1)).front());
  if (!told) throw backend_error(told.error().message);
  if (told->back().is_error()) all.bytes.reset();  // it is forbidden, or the server is old
  if (all.bytes) *all.bytes += static_cast<std::uint64_t>(told->back().integer());
}

/// A job that is being ended, and who ends it. Whoever comes later takes over.
struct ending {
  const remote_filter& f;
  std::string job;
  std::string who = random_name();
};

/// @return false  the job is gone: somebody else has ended it
/// @throws parameter_error  somebody else is about to
bool is_ours(session& with, const ending& e) {
  const std::string list = e.f.keys.jobs(e.f.generation);
  const reply mark = ask_about(with, {list, 0}, {"HGET", list, e.job + '!'});
  if (mark.is_nil()) return false;
  if (mark.text().ends_with(e.who)) return true;
  throw parameter_error("somebody else has begun to end the job '" + e.job + "' of '" + e.f.keys.name() +
                        "' since, and goes on with it; if he has died, finish it: everseen jobs " +
                        e.f.keys.name() + " --end " + e.job);
}

/// Claims that were planned before are refused from the new epoch on, and who plans anew finds the job gone;
/// so nothing comes behind the removal that a later job of the name would take for its own. Nor does the
/// removal come behind the beginning of one: before that, somebody else must have ended this one here, by
/// another epoch, as it was ours when we had ours.
/// @return false  the job is gone
bool end_in_partition(session& with, const ending& e, std::uint32_t partition) {
  const std::string state = e.f.keys.state(e.f.generation, partition);
  const route to{state, partition};
  const std::string field = std::string(partition_keys::job_field) + e.job;
  contention others(e.f, partition);
  for (;;) {
    renew_epoch(with, e.f, partition);
    const std::string epoch(ask_about(with, to, {"HGET", state, "epoch"}).text());
    if (!is_ours(with, e)) return false;
    const reply done = ask_about(with, to,
                                 {"EVAL", scripts::end_in_partition().text, "2", state,
                                  partition_keys::lane_records(state, e.job), epoch, field});
    if (done.integer() != 0) return true;
    others.yield();
  }
}

/// A filter without jobs may be rebuilt and reset again. Whoever begins a job meanwhile looks once more.
void note_whether_jobs_are_left(session& with, const remote_filter& f) {
  const std::string list = f.keys.jobs(f.generation);
  const auto none_left = [&] { return ask_about(with, {list, 0}, {"HLEN", list}).integer() == 0; };
  if (!none_left()) return;
  const std::string generation = std::to_string(f.generation);
  change_header(with, f.keys.header(), {{"generation", generation}, {"jobs", "1"}}, {{"jobs", ""}});
  if (none_left()) return;
  change_header(with, f.keys.header(), {{"generation", generation}, {"next", ""}}, {{"jobs", "1"}});
}

}  // namespace

job_size size_of_job(session& with, const remote_filter& f, std::string_view job) {
  if (!jobs_of(with, f).contains(job)) throw no_such_job(f.keys.name(), job);
  job_size all{0, 0};
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) add_size_of(with, f, p, job, all);
  return all;
}

void end_job(session& with, const remote_filter& f, std::string_view job) {
  const std::string list = f.keys.jobs(f.generation);
  const std::string checkpoints = f.keys.checkpoints(f.generation, job);
  const ending e{f, std::string(job)};
  const auto all = jobs_of(with, f);
  const auto kept = all.find(job);
  if (kept == all.end()) throw no_such_job(f.keys.name(), job);
  const reply marked =
      ask_about(with, {list, 0}, {"EVAL", scripts::mark_ended().text, "1", list, job, kept->second, e.who});
  if (marked.integer() == 0 && !is_ours(with, e)) return;
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p)
    if (!end_in_partition(with, e, p)) return;
  const reply finished =
      ask_about(with, {list, 0}, {"EVAL", scripts::finish_end().text, "2", list, checkpoints, job, e.who});
  if (finished.integer() == 0) (void)is_ours(with, e);  // gone: by us, where the answer was lost
  note_whether_jobs_are_left(with, f);
}

}  // namespace everseen::redis
