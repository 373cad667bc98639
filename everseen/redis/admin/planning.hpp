#pragma once

#include <cstdint>

#include "everseen/core/spec/spec.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen::redis {

/// make_spec for filters on Redis servers, judged by them or by clients, as the request says; by servers if
/// it leaves that open. The layout is the one for memory: a key costs a cache miss or two, wherever it is
/// judged.
///
/// If the request leaves the partitions open: with several servers, enough to load all of them equally. A
/// partition that its server judges is one value, which DUMP and MIGRATE move in one string of at most 512
/// MiB: so a first layer has at most 24 MiB, which leaves room for three doublings.
/// @throws parameter_error  as make_spec; also if clients judge and a first layer would not fit a Redis
/// string
[[nodiscard]] spec plan_for_redis(const redis_url& url, const spec_request& request);
/// Checks that a client can hold the filter at its initial size.
/// @throws parameter_error  it exceeds the limit of the URL; the message says what to do
void require_that_clients_hold(const redis_url& url, const spec& s);

}  // namespace everseen::redis
