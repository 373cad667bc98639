#include "everseen/serve/registry/shared_filter.hpp"

#include <utility>

#include "everseen/core/format/image.hpp"
#include "everseen/serve/registry/filter_budget.hpp"

namespace everseen::serve {

shared_filter::shared_filter(std::string k, everseen::filter opened, const filter_facts& known,
                             requested_options w, std::shared_ptr<filter_record> r,
                             filter_budget::share taken, worker_pool& workers, join_queue::limits joined,
                             batch_stats& all)
    : key(std::move(k)),
      fingerprint(fingerprint_of(opened.get_spec())),
      handle(std::move(opened)),
      identity(known.identity),
      requested(w),
      planned_bytes(serve::planned_bytes(handle.get_spec())),
      room(std::move(taken)),
      record(std::move(r)),
      of_all(all),
      adds(counted(), question::add, workers, joined),
      checks(counted(), question::check, workers, joined) {
  set_expiry(known.expires_at);
}

}  // namespace everseen::serve
