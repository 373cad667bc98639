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
/// the filter has grown. doc/library.md has programs for all of what follows.
///
/// Errors. All exceptions derive from everseen::error, and what() is one line: the problem and what to do.
///
/// | exception | problem | a retry helps |
/// |---|---|---|
/// | parameter_error | a name, number, URL or key of the caller | no |
/// | name_taken, no_filter | a parameter_error: a filter has this name, or none has | no |
/// | filter_expired | a no_filter: it expired, as configured | no |
/// | full_error | the filter was created without growth, and is full | no |
/// | storage_error | a file, a disk, memory; or another process writes to the filter | when mended |
/// | backend_error | a server does not answer, or refuses | yes |
/// | format_error | stored or received bytes are damaged, or of another version | no |
///
/// A call with one key throws. A call with many keys returns a batch_result, since some of the keys may have
/// their verdicts: the counts, or a batch_failure with the cause. It throws a parameter_error where the call
/// itself is wrong, before it adds anything.
///
/// `unknown` is the verdict of a key whose answer a failure hid. It was not added, unless the failure says
/// that the batch may have run on a server whose answer was lost. Add the unknown keys again, in their order,
/// and only them. A program that treats `unknown` as `seen` loses events, and as `fresh` repeats them.
///
///     const auto added = clicks.add(urls, verdicts);             // std::vector<std::string> urls
///     if (!added) added.error().raise();                         // the exception of the cause
///
/// Threads. Any number may share a filter or a store, or use several of one name. If several add the same
/// key, exactly one gets `fresh`. A deduplicator, and claims of one source, belong to one thread at a time.
/// After fork(), a child opens filters of its own.
///
/// Cost. 5 to 30 ns a key in batches of some thousands, 100 ns for a single key; on servers at least a round
/// trip a batch. Nothing here reads a clock: filters with a window take the time of each key.
///
/// The public headers, in the order in which to read them; everseen/everseen.hpp includes them all:
///
/// - everseen/filter/filter.hpp                   filter; create(), open_or_create(), open()
/// - everseen/filter/key_range.hpp                what may be a batch of keys
/// - everseen/core/base/verdict.hpp               fresh, seen, late, unknown
/// - everseen/core/base/error.hpp                 the exceptions, and the report of a failed batch
/// - everseen/core/spec/spec.hpp                  spec_request: capacity, error rate, growth, window, ...
/// - everseen/filter/open_store.hpp               stores by URL: mem:, file:DIRECTORY, redis://HOST
/// - everseen/filter/deduplicator.hpp             events that take effect once, whatever crashes
/// - everseen/filter/foreign_file.hpp             import and export of Guava and RedisBloom filters
/// - everseen/store/port/store.hpp                a store: create, open, list
/// - everseen/store/port/filter_admin.hpp         the rest of a store: drop, rename, expire, rebuild, link
/// - everseen/store/port/stored_filter.hpp        an open filter as its store has it
/// - everseen/store/port/ledger.hpp               the memory of a job
/// - everseen/store/port/retry_policy.hpp         how long calls wait for a server
/// - everseen/core/layout/sizing.hpp              the arithmetic: bits, rates, capacities
///
/// and what these are made of:
///
/// - everseen/core/layout/layout.hpp              how a digest becomes bits
/// - everseen/core/hash/digest.hpp                hashes, and digests for callers that keep them
/// - everseen/core/hash/funnel.hpp                what Guava makes of a key before hashing
/// - everseen/core/spec/window.hpp                how time maps to slices
/// - everseen/core/partition/partition.hpp        the filter logic of one partition
/// - everseen/core/partition/journal_record.hpp   an entry of its journal
/// - everseen/core/partition/partition_batch.hpp  the keys of one partition
/// - everseen/core/partition/partition_state.hpp  the layers and slices of one partition
/// - everseen/core/partition/segments.hpp         the name of a bit array
/// - everseen/core/format/predecessor.hpp         the older filter that is asked first
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
#include "everseen/filter/foreign_file.hpp"
#include "everseen/filter/key_range.hpp"
#include "everseen/filter/open_store.hpp"
#include "everseen/store/port/filter_admin.hpp"
#include "everseen/store/port/ledger.hpp"
#include "everseen/store/port/retry_policy.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/store/port/stored_filter.hpp"
