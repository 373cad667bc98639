#include <span>
#include <string>
#include <utility>

#include "everseen/redis/claim_scripts.hpp"
#include "everseen/redis/command.hpp"
#include "everseen/redis/jobs.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/upkeep.hpp"

/// The end of a job, and what it keeps until then.
namespace everseen::redis {

namespace {

/// Adds what a partition keeps of a job.
void add_size_of(session& with, const remote_filter& f, std::uint32_t partition, std::string_view job,
                 job_size& all) {
  const std::string state = f.keys.state(f.generation, partition);
  const std::string counters = partition_keys::counters(state, job);
  const route to{state, partition};
  all.counters += static_cast<std::uint64_t>(ask_about(with, to, {"HLEN", counters}).integer());
  for (const std::string& key : {counters, partition_keys::lane_records(state, job)}) {
    const request asked{to, encode({"MEMORY", "USAGE", key}), 1, true};
    const answer told = std::move(with.exchange(std::span(&asked, 1)).front());
    if (!told) throw backend_error(told.error().message);
    if (told->back().is_error()) all.bytes.reset();  // it is forbidden, or the server is old
    if (all.bytes) *all.bytes += static_cast<std::uint64_t>(told->back().integer());
  }
}

/// Claims that were planned before are refused from the new epoch on, and who plans anew finds the job gone;
/// so nothing comes behind the removal that a later job of the name would take for its own.
void end_in_partition(session& with, const remote_filter& f, std::uint32_t partition, std::string_view job) {
  renew_epoch(with, f, partition);
  const std::string state = f.keys.state(f.generation, partition);
  const std::string field = std::string(partition_keys::job_field) + std::string(job);
  (void)with.ask({state, partition},
                 {"UNLINK", partition_keys::lane_records(state, job), partition_keys::counters(state, job)},
                 true);
  (void)with.ask({state, partition}, {"HDEL", state, field}, true);
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
  if (ask_about(with, {list, 0}, {"EVAL", scripts::mark_ended().text, "1", list, job}).integer() == 0)
    throw no_such_job(f.keys.name(), job);
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) end_in_partition(with, f, p, job);
  const std::string checkpoints = f.keys.checkpoints(f.generation, job);
  (void)with.ask({checkpoints, 0}, {"UNLINK", checkpoints}, true);
  (void)with.ask({list, 0}, {"HDEL", list, std::string(job) + '!'}, true);
  note_whether_jobs_are_left(with, f);
}

}  // namespace everseen::redis
