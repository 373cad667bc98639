#include "everseen/store/port/store.hpp"

#include "everseen/core/base/error.hpp"

namespace everseen {

spec store::plan(const spec_request& request) const {
  if (request.judge == judge_kind::client)
    throw parameter_error(
        "clients judge only filters on Redis; leave --judge out, or give --store redis://HOST");
  return make_spec(request);
}

}  // namespace everseen
