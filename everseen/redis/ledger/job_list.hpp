#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen::redis {

/// An entry in a filter's list of jobs.
struct listed_job {
  std::string id;
  std::string description;
};

/// The jobs of a filter, and how far each has settled.
///
/// A job exists from the step that lists it to the step that removes it from the list. Its keys are removed
/// afterwards; an interrupted removal is finished by the next one.
///
/// All functions throw backend_error, and format_error for damage.
class job_list {
 public:
  /// @param name  of the filter, for messages    @param f  must outlive the list
  job_list(std::string name, const filter_identity& f)
      : name_(std::move(name)),
        filter_(f),
        list_{job_keys::list(f.keys), 0},
        gone_{job_keys::gone(f.keys), 0} {}

  [[nodiscard]] std::map<std::string, listed_job, std::less<>> all(server_connections& connections) const;
  [[nodiscard]] std::vector<std::string> names(server_connections& connections) const;
  /// @param on_replicas  as in request
  [[nodiscard]] std::optional<listed_job> find(server_connections& connections, std::string_view job,
                                               bool on_replicas = false) const;
  /// The job of this name, created if it does not exist.
  /// @param description  of a new job; nothing: none is created
  /// @return nothing  without a description: there is no such job
  [[nodiscard]] std::optional<listed_job> open(server_connections& connections, std::string_view job,
                                               std::optional<std::string_view> description) const;
  /// Finishes interrupted removals, and removes marks of jobs that are not listed. Cost: one round trip per
  /// partition.
  void remove_leftovers(server_connections& connections) const;
  /// @throws parameter_error  there is no such job
  void end(server_connections& connections, std::string_view job) const;
  void end_all(server_connections& connections) const { remove_listed(connections, true); }

  /// @return false  nothing is written: a lane is not at the position that its checkpoint starts from
  ///   (checkpoint::from)
  /// @throws storage_error  the job has ended
  bool settle(server_connections& connections, std::string_view job, const listed_job& listed,
              std::span<const checkpoint> reached) const;
  [[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints(server_connections& connections,
                                                                           const listed_job& job) const;

  /// Visits the counters of one partition that are not 0.    @throws format_error  also if one is not a
  /// number
  void visit_counters(server_connections& connections, std::uint32_t partition, const listed_job& job,
                      const ledger::counter_visitor& visit) const;
  [[nodiscard]] job_size size(server_connections& connections, std::string_view job) const;

  /// The error for a job that has ended.
  [[nodiscard]] storage_error is_gone(std::string_view job) const;

 private:
  [[nodiscard]] bool has_values() const noexcept { return filter_.spec.judge == judge_kind::server; }
  void mark(server_connections& connections, std::string_view job, const std::string& id) const;
  void keep_marks(server_connections& connections, const std::string& id) const;
  void remove(server_connections& connections, const std::string& id) const;
  /// Jobs whose removal was interrupted, or all.
  void remove_listed(server_connections& connections, bool all) const;

  std::string name_;
  const filter_identity& filter_;
  route list_;
  route gone_;
};

}  // namespace everseen::redis

namespace everseen::redis::job_scripts {

/// Atomic changes of a filter's list of jobs.

/// Removes a job from the list; its id remains until its keys are removed.
/// KEYS list    ARGV job, its entry, the name of the remaining entry    Returns 1 done, 0 it is another job.
[[nodiscard]] const script& unlist();

/// Adds a job to the list, unless one of its name is there.
/// KEYS list, header    ARGV job, its entry    Returns 1 done, 0 there is no header, 2 the filter is being
/// rebuilt.
[[nodiscard]] const script& enlist();

/// Allows a job to claim in a partition that clients judge.    KEYS state    ARGV field of the job    Returns
/// 1; 0 there is no such state.
[[nodiscard]] const script& mark_partition();

/// Allows a job to claim in a partition that its server judges, for now: its records exist from then on.
/// KEYS value, records    ARGV the time limit of the records in ms    Returns 1; 0 there is no such value.
[[nodiscard]] const script& begin_records();

/// Writes checkpoints.
/// KEYS list, checkpoints    ARGV job, its entry, then for each lane: its name, checkpoint, and the position
/// that it must have so far (empty: any)    Returns 1 done, 0 there is no such job, or another of its name, 2
/// nothing done: a lane has another position.
[[nodiscard]] const script& settle();

}  // namespace everseen::redis::job_scripts
