#pragma once

/// everseen: has this key ever been seen?
///
/// A filter stores a few bits per key and answers whether the next key was added before:
///
///     #include <everseen/everseen.hpp>
///
///     auto clicks = everseen::open_or_create("file:/var/lib/clicks", "clicks", {.capacity = 10'000'000});
///     if (clicks.add("user 42, page 7") == everseen::verdict::fresh) { /* the first time */ }
///
/// `fresh` is certain. `seen` is wrong for at most `error_rate` of the keys that were never added, even after
/// the filter has grown. doc/library.md has example programs for the topics below.
///
/// Errors. All exceptions derive from everseen::error, and what() is one line: the problem and what to do.
///
/// | exception | problem | a retry helps |
/// |---|---|---|
/// | parameter_error | a name, number, URL or key from the caller is invalid | no |
/// | name_taken, no_filter | kinds of parameter_error: the name is taken, or no filter has it | no |
/// | filter_expired | a kind of no_filter: the filter has expired, as configured | no |
/// | full_error | the filter was created without growth, and is full, or may not take more memory | no |
/// | storage_error | a file, a disk or memory fails, or another process writes to the filter | once fixed |
/// | backend_error | a server does not answer, or refuses | yes |
/// | format_error | stored or received bytes are damaged, or of another version | no |
///
/// A call with one key throws. A call with many keys returns a batch_result: the counts or, since some keys
/// may already have their verdicts, a batch_failure with the cause. If the arguments do not fit together, it
/// throws a parameter_error before it adds anything.
///
/// `unknown` means that a failure hid the answer. The key was not added, unless the failure says that a
/// server may have run the batch and its answer was lost. Add exactly the unknown keys again, in their order.
/// A program that treats `unknown` as `seen` loses events; one that treats it as `fresh` repeats them.
///
///     const auto added = clicks.add(urls, verdicts);             // std::vector<std::string> urls
///     if (!added) added.error().raise();                         // throws the cause
///
/// Threads. Any number of threads may share a filter or a store, or use several objects for one name. If
/// several threads add the same key, exactly one gets `fresh`. Only one thread at a time may use a
/// deduplicator, or claim events of one source. After fork(), the child must open its own filters.
///
/// Cost. 5 to 30 ns per key in batches of a few thousand keys, 100 ns for a single key; on servers, at least
/// one round trip per batch. No call takes the time of a key from the clock: if a filter has a window, the
/// caller passes the times.
///
/// The public headers, in the order in which to read them; everseen/everseen.hpp includes them all:
///
/// - everseen/filter/filter.hpp                   filter, and the types that are accepted as a batch of keys
/// - everseen/core/base/verdict.hpp               fresh, seen, late, unknown
/// - everseen/core/base/error.hpp                 the exceptions, and the report of a failed batch
/// - everseen/core/spec/spec.hpp                  spec_request: capacity, error rate, growth, window, ...
/// - everseen/open_store.hpp                      create(), open_or_create(), open(); stores by URL: mem:,
///                                                file:DIRECTORY, redis://HOST, everseen://HOST
/// - everseen/filter/deduplicator.hpp             events that take effect once, whatever crashes
/// - everseen/foreign/foreign_file.hpp            import and export of Guava and RedisBloom filters
/// - everseen/store/port/store.hpp                a store: create, open, list
/// - everseen/store/port/filter_admin.hpp         other operations: drop, rename, expire, rebuild, link
/// - everseen/store/port/stored_filter.hpp        an open filter, as its store implements it
/// - everseen/store/port/ledger.hpp               the memory of a job
/// - everseen/store/port/retry_policy.hpp         how long calls wait for a server
/// - everseen/core/layout/sizing.hpp              the arithmetic: bits, rates, capacities
///
/// and the headers that these are built on:
///
/// - everseen/core/layout/layout.hpp              how a digest becomes bits
/// - everseen/core/hash/digest.hpp                hashes, and digests for callers that keep them
/// - everseen/core/hash/funnel.hpp                how Guava converts a key before it hashes it
/// - everseen/core/spec/window.hpp                how time maps to slices
/// - everseen/store/port/time_source.hpp          the clock that stores and filters are given
/// - everseen/core/partition/partition.hpp        the filter logic of one partition
/// - everseen/core/partition/journal_record.hpp   an entry of its journal
/// - everseen/core/partition/partition_state.hpp  the keys of one partition; its layers and slices
/// - everseen/core/partition/segments.hpp         the name of a bit array
/// - everseen/core/partition/sibling.hpp          partitions that are merged
/// - everseen/core/format/file_records.hpp        the older filter that is asked first
/// - everseen/core/format/byte_stream.hpp         streams of bytes as callbacks
///
/// C programs include everseen/everseen.h. Nothing else of the library is installed.

#if __cplusplus < 202002L
#error "everseen needs C++20: compile with -std=c++20"
#endif

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/filter/deduplicator.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/foreign/foreign_file.hpp"
#include "everseen/open_store.hpp"
#include "everseen/store/port/filter_admin.hpp"
#include "everseen/store/port/ledger.hpp"
#include "everseen/store/port/retry_policy.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/store/port/stored_filter.hpp"
