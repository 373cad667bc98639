#include "everseen/server/registry/shared_filter.hpp"

#include <utility>

#include "everseen/server/registry/planned_bytes.hpp"

namespace everseen::server {

namespace {

std::int64_t expiry_of(const filter& f) {
  const auto end = f.stored().expires_at();
  return end ? end->time_since_epoch().count() : shared_filter::no_expiry;
}

}  // namespace

void shared_filter::expire_at(std::optional<event_time> when) {
  handle.stored().expire_at(when);
  expires_at_ms = when ? when->time_since_epoch().count() : no_expiry;
}

shared_filter::shared_filter(std::string k, everseen::filter opened, requested_options w,
                             std::shared_ptr<filter_record> r, filter_budget::share taken,
                             worker_pool& workers, join_queue::limits joined, batch_stats& all)
    : key(std::move(k)),
      handle(std::move(opened)),
      requested(w),
      planned_bytes(server::planned_bytes(handle.get_spec())),
      room(std::move(taken)),
      expires_at_ms(expiry_of(handle)),
      record(std::move(r)),
      of_all(all),
      adds(counted(), question::add, workers, joined),
      checks(counted(), question::check, workers, joined) {}

}  // namespace everseen::server
