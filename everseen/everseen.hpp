#pragma once

/// everseen: has this key ever been seen?
///
/// The public header. A filter stores a few bits per key and answers whether the next key was added before:
///
///     #include <everseen/everseen.hpp>
///
///     auto filter = everseen::create("mem:", "clicks", {.capacity = 10'000'000, .error_rate = 1e-6});
///     if (filter.add("user 42, page 7") == everseen::verdict::fresh) { /* the first time */ }
///
/// `fresh` is certain. `seen` is wrong for at most `error_rate` of the keys that were never added, even after
/// the filter has grown. A batch costs five to ten times less per key than single calls: see the span
/// functions of filter.
///
/// - everseen/filter/filter.hpp        filter, create(), open()
/// - everseen/core/spec/spec.hpp       spec_request: capacity, error rate, growth, window, ...
/// - everseen/core/base/verdict.hpp    fresh, seen, late, unknown
/// - everseen/core/base/error.hpp      exceptions, and the report of a failed batch
/// - everseen/filter/open_store.hpp    where filters are stored: mem:, file:DIRECTORY, redis://HOST
/// - everseen/filter/foreign_file.hpp  import and export of Guava and RedisBloom filters
/// - everseen/filter/deduplicator.hpp  events that take effect exactly once, even after a crash
/// - everseen/core/layout/sizing.hpp   the arithmetic: bits, rates, capacities

#if __cplusplus < 202002L
#error "everseen needs C++20: compile with -std=c++20"
#endif

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/filter/deduplicator.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/filter/foreign_file.hpp"
#include "everseen/filter/open_store.hpp"
#include "everseen/store/port/store.hpp"
