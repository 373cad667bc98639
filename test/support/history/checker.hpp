// Whether a history of a store is linearizable: whether each operation can be given one moment between its
// call and its return, such that a single filter that does them one after the other, in the order of these
// moments, gives the same answers.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "test/support/history/history.hpp"

namespace everseen::test::history {

/// What a store may answer, and a single filter would not. Each exception has the document that says so.
struct exceptions {
  /// Of an `add` alone: its `seen` may ignore a reset or a drop for this long. Where clients judge, 1 s
  /// (guarantees, Stores; redis, Where clients judge).
  std::chrono::nanoseconds stale_seen{0};
  /// A client may use a filter for this long after its end, or after its end was changed. On servers 1 s
  /// (redis, The end of a filter).
  std::chrono::nanoseconds late_end{0};
  /// An operation on a whole filter is several steps, and any client may finish those of another. So
  /// - a drop takes away the name first: handles may answer until it returns, and if it is cut off, until
  ///   another client has finished it (redis, What holds for all filters on Redis);
  /// - a reset, a new end or a rebuild concerns the filter that had the name at its beginning, whatever its
  ///   name is afterwards (redis, What holds for all filters on Redis);
  /// - a reset during a rebuild empties first the previous filter, and then the new one: a key that is added
  ///   meanwhile may be removed as well, or kept although the previous one had `seen` it (redis, Reset);
  /// - an `add` beside the commit of a rebuild asks the previous filter before it adds the key to the new
  /// one:
  ///   between the two, others may find the key absent (redis, Rebuild);
  /// - a creation fails if another client drops, ends or rebuilds the filter as soon as it has its name, and
  /// a
  ///   reset fails if one does so before all partitions are empty (redis, Reset); the beginning of a rebuild
  ///   fails, though it has begun, if one drops, ends or resets the filter meanwhile (redis, Rebuild).
  bool whole_in_steps = false;
  /// A look-up does not wait for replicas. What it has `seen` while the addition was under way, or after that
  /// was lost, a failover may undo (redis, Replicas).
  bool looks_ahead = false;
  /// Handles of a filter that was dropped continue, each with the keys of that filter: in memory, a handle is
  /// the filter (store/memory).
  bool orphans_answer = false;
};

// The rest of the model:
// - After a creation or a reset a key is absent. `add` answers fresh for an absent key, and makes it present;
//   it answers seen for a present one. `check` answers seen for a present key, else fresh. With an error rate
//   of 1e-12 false positives do not occur (guarantees, Verdicts; Error rate).
// - If a key occurs twice in a batch, the first occurrence is judged first (guarantees, Batches and threads).
// - Keys are independent: a batch over several partitions is not one step (guarantees, Batches and threads),
//   and a reset empties each partition in a step of its own (redis, Reset). So each key has a history of its
//   own, in which the operations on whole filters occur.
// - A lost operation may happen at any time after its call, or never (guarantees, Crashes). Keys that are
//   unknown without an outage were not added (guarantees, Failures), and other refused operations have no
//   effect, except those of several steps.
// - A handle stays with its filter when that is renamed, and gives no verdict once it was dropped (redis,
// What
//   holds for all filters on Redis).
// - The name of a filter that has ended is free (redis, The end of a filter). Ends are by the clock of the
//   store, which may differ from the steady clock by `clock_error`.
// - From the moment at which a rebuild begins, `add` adds keys anew, though it answers seen for those of
//   before. The commit forgets those that were neither given nor added since (redis, Rebuild).
// - The first claim of an event adds its key. Each later one has its verdict (store/port/ledger).
inline constexpr std::chrono::milliseconds clock_error{50};

enum class judgement : std::uint8_t {
  linearizable,
  contradictory,
  undecided,  ///< the search was given up
};

struct finding {
  judgement is = judgement::linearizable;
  /// Of the key: the first in order that contradicts.
  int key = 0;
  /// A shortest contradiction, as lines for people: it remains one whatever all other operations did.
  std::string contradiction{};
  /// Configurations that the search visited, over all keys.
  std::size_t visited = 0;
};

/// The search of Wing and Gong, with Lowe's memory of configurations (set of operations done, state), for
/// each key. Cost: linear in the operations of a key, unless many are concurrent.
[[nodiscard]] finding check(const record& all, const exceptions& allowed);

}  // namespace everseen::test::history
