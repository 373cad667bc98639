#pragma once

#include <cstdint>

#include "everseen/core/spec/spec.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen::redis {

/// Whether commands of plain Redis or the module test the bits of keys.
enum class judged_by : std::uint8_t { commands, module };

/// make_spec for plain Redis, where a key costs a command per bit rather than a cache miss per line.
///
/// If the request leaves the layout open: classic, with the fewest probes for which the first layer needs at
/// most twice the minimum number of bits. The server's time for a key is about 1 + 0.4 · probes µs by script
/// (doc/measurements.md, "Redis"); so a filter that grows takes 3 probes and 45 % more memory for 1e-2
/// instead of 8, and 7 and 72 % more for 1e-6 instead of 21. Later layers have lower rates, for which this
/// number of probes is even further from the best: after three doublings a layer needs about 2.2 times the
/// minimum.
///
/// If all servers have the module, cache misses dominate, and the layout is the one for memory: one line a
/// key.
///
/// If the request leaves the partitions open: enough that the first segments are at most an eighth of
/// segment_bytes, which leaves room for three doublings; and, with several servers, enough to load all of
/// them equally.
/// @throws parameter_error  as make_spec; also if a first segment would not fit a Redis string
[[nodiscard]] spec plan_for_redis(const redis_url& url, spec_request request,
                                  judged_by by = judged_by::commands);

/// make_spec for a filter that its clients judge: as for memory, with enough partitions to load several
/// servers equally.    @throws parameter_error  as plan_for_redis
[[nodiscard]] spec plan_for_clients(const redis_url& url, spec_request request);
/// Checks that a client can hold the filter at its initial size.
/// @throws parameter_error  it exceeds the limit of the URL; the message says what to do
void require_that_clients_hold(const redis_url& url, const spec& s);

}  // namespace everseen::redis
