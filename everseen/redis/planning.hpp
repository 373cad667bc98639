#pragma once

#include "everseen/core/spec.hpp"
#include "everseen/redis/redis_url.hpp"

namespace everseen::redis {

/// make_spec for plain Redis, which pays for each bit it is asked about and not for each cache miss.
///
/// Where the request leaves the layout open: classic, with about half the probes that would need the fewest
/// bits, for a third more memory (1e-2: 3 probes at 12.4 bits a key instead of 7 at 9.6; 1e-6: 9 at 36
/// instead of 20 at 29). Where it leaves the partitions open: so many that the first segments are at most an
/// eighth of segment_bytes, which leaves room for three doublings; and, with several servers, enough to keep
/// all of them equally busy.
/// @throws parameter_error  as make_spec; also when a first segment would not fit a Redis string
[[nodiscard]] spec plan_for_redis(const redis_url& url, spec_request request);

}  // namespace everseen::redis
