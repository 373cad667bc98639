#include "everseen/redis/filter/sealable_filter.hpp"

#include <utility>

#include "everseen/core/base/names.hpp"
#include "everseen/redis/filter/filter_expiry.hpp"
#include "everseen/redis/filter/mirrored_filter.hpp"
#include "everseen/redis/filter/served_filter.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/link_hash.hpp"

namespace everseen::redis {

sealable_filter::sealable_filter(std::shared_ptr<session_pool> pool, std::string name,
                                 const filter_identity& f, access how)
    : pool_(std::move(pool)), name_(std::move(name)), filter_(f), how_(how), jobs_(name_, filter_) {}

std::optional<event_time> sealable_filter::expires_at() const {
  const auto h = read_filter_header(*pool_->take(), filter_);
  if (!h) throw filter_is_gone(filter_.keys.header());
  if (h->has_expired()) throw filter_has_expired(name_);
  return h->expires_at;
}

void sealable_filter::expire_at(std::optional<event_time> when) {
  if (!may_write())
    throw parameter_error("the filter was opened for reading; open it for writing to give it another end");
  redis::expire_at(*pool_->take(), name_, filter_, when);
}

std::string sealable_filter::place_of(std::uint32_t partition) const {
  const session_pool::lease with = pool_->take();
  return to_string(with->server_of({filter_.keys.state(partition), partition}));
}

std::unique_ptr<ledger> sealable_filter::open_ledger(std::string_view job, std::string_view description) {
  validate_job_name(job);
  const session_pool::lease with = pool_->take();
  require_life(*with);
  if (may_write()) return ledger_of(std::string(job), begin_job(*with, job, description));
  auto there = jobs_.find(*with, job);
  if (!there) throw no_such_job(name_, job);
  return ledger_of(std::string(job), *std::move(there));
}

/// A client that links the filter at the same time looks for jobs after writing the link; so one of the two
/// detects the other.
listed_job sealable_filter::begin_job(session& with, std::string_view job, std::string_view description) {
  listed_job opened = jobs_.open(with, job, description);
  const auto older = link_hash(filter_.keys.prefix()).asked_first(with, filter_.id);
  if (!older) return opened;
  jobs_.end(with, job);
  throw parameter_error(
      quoted_name(name_) + " asks " + quoted_name(older->name) +
      " first, and a job needs a filter that judges alone; unlink it: everseen link --off " +
      name_argument(name_) + ", or give the job a filter of its own");
}

std::vector<std::string> sealable_filter::jobs() const {
  return jobs_.names(*pool_->take());
}

job_size sealable_filter::size_of_job(std::string_view job) const {
  return jobs_.size(*pool_->take(), job);
}

void sealable_filter::end_job(std::string_view job) {
  if (!may_write())
    throw storage_error("the filter was opened for reading; open it for writing to end a job", 0, {});
  jobs_.end(*pool_->take(), job);
}

std::shared_ptr<sealable_filter> open_sealable(std::shared_ptr<session_pool> pool, std::string name,
                                               const filter_identity& f, access how) {
  if (f.spec.judge == judge_kind::client)
    return std::make_shared<mirrored_filter>(std::move(pool), std::move(name), f, how);
  const gear_kind by = choose_commands(*pool->take(), pool->url());
  return std::make_shared<served_filter>(std::move(pool), std::move(name), f, by, how);
}

}  // namespace everseen::redis
