#include "everseen/server/shared_filter.hpp"

#include <utility>

#include "everseen/server/planned_bytes.hpp"

namespace everseen::server {

namespace {

std::int64_t end_of(const filter& f) {
  const auto end = f.stored().ends_at();
  return end ? end->time_since_epoch().count() : shared_filter::no_end;
}

}  // namespace

void shared_filter::end_at(std::optional<event_time> when) {
  handle.stored().end_at(when);
  ends_at_ms = when ? when->time_since_epoch().count() : no_end;
}

shared_filter::shared_filter(std::string k, everseen::filter opened, wishes w,
                             std::shared_ptr<filter_record> r, filter_room::share taken, worker_pool& workers,
                             join_queue::limits joined, batch_notes& all)
    : key(std::move(k)),
      handle(std::move(opened)),
      wished(w),
      planned_bytes(server::planned_bytes(handle.get_spec())),
      room(std::move(taken)),
      ends_at_ms(end_of(handle)),
      record(std::move(r)),
      of_all(all),
      adds(noted(), question::add, workers, joined),
      checks(noted(), question::check, workers, joined) {}

}  // namespace everseen::server
