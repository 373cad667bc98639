#pragma once

#include <cstdint>

#include "everseen/core/spec/spec.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen::redis {

/// Where the bits of keys will be tested: by commands of plain Redis, or by the module inside it.
enum class judged_by : std::uint8_t { commands, module };

/// make_spec for plain Redis, which pays for each bit it is asked about and not for each cache miss.
///
/// Where the request leaves the layout open: classic, with the fewest probes for which the first layer needs
/// at most twice the fewest bits. The server's time for a key is about 1 + 0.4 · probes µs by script
/// (doc/measurements.md, "Redis"); so a filter that grows takes 3 probes and 45 % more memory for 1e-2
/// instead of 8, and 7 and 72 % more for 1e-6 instead of 21. Layers after it have lower rates, for which
/// these are even fewer: after three doublings a layer needs some 2.2 times the fewest bits.
///
/// Where all servers have the module, which pays for cache misses, the layout is memory's: one line a key.
///
/// Where it leaves the partitions open: so many that the first segments are at most an eighth of
/// segment_bytes, which leaves room for three doublings; and, with several servers, enough to keep all of
/// them equally busy.
/// @throws parameter_error  as make_spec; also when a first segment would not fit a Redis string
[[nodiscard]] spec plan_for_redis(const redis_url& url, spec_request request,
                                  judged_by by = judged_by::commands);

/// make_spec for a filter that its clients judge: memory's, with enough partitions to keep several servers
/// equally busy.    @throws parameter_error  as plan_for_redis
[[nodiscard]] spec plan_for_clients(const redis_url& url, spec_request request);
/// Whether a client can hold the filter as it begins.
/// @throws parameter_error  not by the URL, and the message says what can be done
void require_that_clients_hold(const redis_url& url, const spec& s);

}  // namespace everseen::redis
