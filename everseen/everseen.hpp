#pragma once

/// everseen: has this key ever been seen?
///
/// The public door. A filter remembers keys in a few bits each and says of the next one whether it was there:
///
///     #include <everseen/everseen.hpp>
///
///     auto filter = everseen::create("mem:", "clicks", {.capacity = 10'000'000, .error_rate = 1e-6});
///     if (filter.add("user 42, page 7") == everseen::verdict::fresh) { /* the first time */ }
///
/// `fresh` is certain. `seen` is wrong for at most `error_rate` of the keys that were never added, also after
/// the filter has grown. Many keys at once are five to ten times cheaper: see filter::add for spans.
///
/// - everseen/filter/filter.hpp   filter, create(), open()
/// - everseen/core/spec.hpp       spec_request: capacity, error rate, growth, window, ...
/// - everseen/core/verdict.hpp    fresh, seen, late, unknown
/// - everseen/core/error.hpp      what is thrown, and what a failed batch says
/// - everseen/filter/open_store.hpp  where filters live: mem:, file:DIRECTORY, redis://HOST
/// - everseen/filter/foreign_file.hpp  filters of Guava and RedisBloom, from their files and back
/// - everseen/filter/deduplicator.hpp  events that take effect once, whatever dies
/// - everseen/core/sizing.hpp     the arithmetic: bits, rates, capacities

#if __cplusplus < 202002L
#error "everseen needs C++20: compile with -std=c++20"
#endif

#include "everseen/core/error.hpp"
#include "everseen/core/sizing.hpp"
#include "everseen/core/spec.hpp"
#include "everseen/core/verdict.hpp"
#include "everseen/filter/deduplicator.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/filter/foreign_file.hpp"
#include "everseen/filter/open_store.hpp"
#include "everseen/store/store.hpp"
