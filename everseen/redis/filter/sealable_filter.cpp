#include "everseen/redis/filter/sealable_filter.hpp"

#include <utility>

#include "everseen/core/base/names.hpp"
#include "everseen/redis/keyspace/name_index.hpp"
#include "everseen/redis/served/packed_keys.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen::redis {

sealable_filter::sealable_filter(std::shared_ptr<connection_pool> pool, std::string name,
                                 const filter_identity& f, access mode)
    : pool_(std::move(pool)), name_(std::move(name)), filter_(f), mode_(mode), jobs_(name_, filter_) {}

batch_path sealable_filter::path_by(std::string text) const {
  batch_path path{std::move(text)};
  const connection_pool::lease connections = pool_->take();
  for (std::uint32_t p = 0; p < filter_.spec.partitions; ++p)
    path.places.push_back(to_string(connections->server_of({filter_.keys.state(p), p})));
  return path;
}

void sealable_filter::must_take_siblings() const {
  if (!may_write())
    throw parameter_error(quoted_name(name_) + " was opened for reading; open it for writing to merge");
}

std::unique_ptr<ledger> sealable_filter::open_ledger(std::string_view job,
                                                     std::optional<std::string_view> description) {
  validate_job_name(job);
  const connection_pool::lease connections = pool_->take();
  require_life(*connections);
  auto there = may_write() ? begin_job(*connections, job, description) : jobs_.find(*connections, job);
  if (there) return ledger_of(std::string(job), *std::move(there));
  if (description) throw no_such_job(name_, job);
  return nullptr;
}

namespace {

/// @param job  that is on the list already; empty: none
void require_judging_alone(server_connections& connections, std::string_view name, const filter_identity& f,
                           std::string_view job) {
  const auto older = link_hash(f.keys.prefix()).asked_first(connections, f.id);
  if (!older) return;
  const std::string filter = name_argument(name);
  std::string message =
      quoted_name(name) + " asks " + quoted_name(older->name) +
      " first, and a job needs a filter that judges alone; unlink it: everseen link --off " + filter +
      ", or give the job a filter of its own";
  if (!job.empty())
    message +=
        ". If nobody uses the job here, end it: everseen jobs " + filter + " --end " + name_argument(job);
  throw parameter_error(message);
}

}  // namespace

/// A client that links the filter at the same time looks for jobs after writing the link; so one of the two
/// detects the other. If it was killed before, the link stays beside the job. A client that finds the link
/// leaves the job on the list: others may already count with it.
std::optional<listed_job> sealable_filter::begin_job(server_connections& connections, std::string_view job,
                                                     std::optional<std::string_view> description) {
  if (description) require_judging_alone(connections, name_, filter_, {});
  auto opened = jobs_.open(connections, job, description);
  if (opened) require_judging_alone(connections, name_, filter_, job);
  return opened;
}

std::shared_ptr<sealable_filter> open_sealable(std::shared_ptr<connection_pool> pool, std::string name,
                                               const filter_identity& f, access mode) {
  if (f.spec.judge == judge_kind::client) return open_mirrored(std::move(pool), std::move(name), f, mode);
  require_module(*pool->take());
  return open_served(std::move(pool), std::move(name), f, mode);
}

}  // namespace everseen::redis
