#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/session.hpp"
#include "everseen/store/ledger.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

// What a filter keeps of its jobs beside its partitions: doc/format.md, "Jobs".

/// The description of a job, in what is kept of it.
///
/// A job is kept as its description and, behind a 0 byte, a random word: by it, it is told from those that
/// had its name before and will have it later.
[[nodiscard]] std::string_view description_in(std::string_view kept);

/// Makes a job of the filter, unless it is there; from then on the filter keeps its generation.
/// @return what is kept of it
/// @throws parameter_error  the filter is being rebuilt, is linked to an older one, or was replaced since `f`
/// @throws no_filter, storage_error, format_error, backend_error
std::string open_job(session& with, const catalogue& names, const remote_filter& f, std::string_view job,
                     std::string_view description);

/// By name, what is kept of them.    @throws backend_error, format_error
[[nodiscard]] std::map<std::string, std::string, std::less<>> jobs_of(session& with, const remote_filter& f);

/// Whether a job is there, the very one, and is not being ended.    @throws backend_error
[[nodiscard]] bool is_listed(session& with, const remote_filter& f, std::string_view job,
                             std::string_view kept);
/// The error of a job that was there.
[[nodiscard]] storage_error is_gone(const remote_filter& f, std::string_view job);

/// @param what  of the filter that cannot be done while it has jobs, as in "be rebuilt"
/// @throws parameter_error  it has some    @throws backend_error, format_error
void require_no_jobs(session& with, const header& h, std::string_view what);

/// @return false  nothing is put down: a source is not where its checkpoint says (checkpoint::from)
/// @throws storage_error  the job is not there any more: it was ended, or its filter was dropped
/// @throws backend_error
bool put_down(session& with, const remote_filter& f, std::string_view job, std::string_view kept,
              std::span<const checkpoint> reached);
/// @throws backend_error, format_error
[[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints_at(session& with,
                                                                            const std::string& key);
/// The same, of a job.
[[nodiscard]] std::map<std::string, checkpoint, std::less<>> checkpoints_of(session& with,
                                                                            const remote_filter& f,
                                                                            std::string_view job);

/// @throws parameter_error  there is no such job    @throws backend_error
[[nodiscard]] job_size size_of_job(session& with, const remote_filter& f, std::string_view job);

/// Removes all that is kept of a job. From its first step on nobody can settle it, or begin another of its
/// name; the name is free when all is gone, so an end that was cut short is gone through again.
/// @throws parameter_error  there is no such job    @throws backend_error, format_error
void end_job(session& with, const remote_filter& f, std::string_view job);

/// Removes what is kept of all jobs, but for what is kept beside partitions.    @throws backend_error
void unlink_jobs(session& with, const remote_filter& f);

}  // namespace everseen::redis
