#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/verdict.hpp"
#include "everseen/stream/source.hpp"

namespace everseen {

/// What became of the records of a batch.
struct judged_batch {
  const source_batch& from;
  std::span<const verdict> verdicts;             ///< one a record
  std::span<const std::uint8_t> claimed_before;  ///< one a record: judged by an attempt before this one

  /// Whether a sink is to put the record out. Nothing is `unknown` unless outages are passed by, and then
  /// nothing that may be fresh is to be held back.
  [[nodiscard]] bool goes_out(std::size_t record) const noexcept {
    return verdicts[record] == verdict::fresh || verdicts[record] == verdict::unknown;
  }
};

/// Where fresh records go. Threads: one at a time.
class sink {
 public:
  virtual ~sink() = default;

  /// Begins, once: takes back what was put out and not settled, where it can.
  /// @param note  what the last settled() said; empty if nothing did
  virtual void begin(std::string_view note) = 0;

  /// Puts out what goes_out(). When it returns, the effect will come, whatever dies; or, of a sink that
  /// settles with the source, with commit().
  /// @throws storage_error, backend_error
  virtual void put(const judged_batch& batch) = 0;

  /// Called before commit(): a sink that can takes back what it was given of lanes that are another worker's
  /// by now, as that one puts it out, too, and removes them from `reached`.
  virtual void leave_lost(std::map<std::string, checkpoint, std::less<>>& /*reached*/) {}

  /// Called before the batches put so far are called settled: makes their effect lasting.
  /// @return what begin() must know to go on from here; empty: nothing. Where there is something, whatever
  /// was
  ///         put is settled only if nobody else has settled any of it; see leave_settled()
  [[nodiscard]] virtual std::string commit(std::span<const checkpoint> reached) = 0;

  /// What the last commit() returned is in the ledger: shows readers what was held back until then.
  virtual void settled() {}

  /// What the last commit() returned is not in the ledger, as another worker has settled records of the same
  /// lanes, which it puts out, too; or the answer to an earlier settlement was lost. Takes back what was put
  /// behind `note`, but for records that `reached` does not have; commit() comes next.
  /// @param note     what the ledger has: as one of the last commit()s returned it
  /// @param reached  by lane, what is settled
  virtual void leave_settled(std::string_view /*note*/,
                             const std::map<std::string, checkpoint, std::less<>>& /*reached*/) {}

  /// Called while the job waits for its store, between attempts: lets go of what cannot be held for so long.
  /// The next put() or commit() takes it up again. Threads: any, while no other call is under way.
  virtual void store_is_away(std::chrono::milliseconds /*lasted*/) noexcept {}

  /// As source::wait_with.
  virtual void wait_with(const std::shared_ptr<patience>& /*p*/) {}
};

}  // namespace everseen
