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

#include "everseen/core/base/verdict.hpp"
#include "everseen/jobs/port/source.hpp"

namespace everseen {

/// The verdicts of a batch's records.
struct judged_batch {
  const source_batch& from;
  std::span<const verdict> verdicts;             ///< one a record
  std::span<const std::uint8_t> claimed_before;  ///< one a record: an earlier attempt claimed it

  /// Whether a sink must put the record out. `unknown` occurs only if outages are passed by, and then
  /// anything that may be fresh must go out.
  [[nodiscard]] bool goes_out(std::size_t record) const noexcept {
    return verdicts[record] == verdict::fresh || verdicts[record] == verdict::unknown;
  }
};

/// The destination of fresh records. Threads: one at a time.
class sink {
 public:
  virtual ~sink() = default;

  /// Called once, at the start: takes back what was put out and not settled, if possible.
  /// @param note  the last settled result of commit(); empty if there is none
  virtual void begin(std::string_view note) = 0;

  /// Puts out what goes_out(). After it returns, the effect is certain, whatever crashes; for a sink that
  /// settles with its source, after commit() returns.
  /// @throws storage_error, backend_error
  virtual void put(const judged_batch& batch) = 0;

  /// Called before commit(): takes back, if possible, the records of lanes that another worker has now, as
  /// that worker puts them out, too. Removes these lanes from `reached`.
  virtual void leave_lost(std::map<std::string, checkpoint, std::less<>>& /*reached*/) {}

  /// Called before the batches put so far are settled: makes their effect durable.
  /// @return what begin() needs to resume here; empty: nothing. If it is not empty, the batches are settled
  ///         only if no other worker has settled any of them; see leave_settled()
  [[nodiscard]] virtual std::string commit(std::span<const checkpoint> reached) = 0;

  /// The ledger has the result of the last commit(): shows readers what was held back until then.
  virtual void settled() {}

  /// The ledger does not have the result of the last commit(): another worker has settled records of the
  /// same lanes and puts them out, too; or the answer to an earlier settlement was lost. Takes back what was
  /// put after `note`, except records that `reached` does not cover; commit() follows.
  /// @param note     what the ledger has: the result of an earlier commit()
  /// @param reached  by lane, the settled position
  virtual void leave_settled(std::string_view /*note*/,
                             const std::map<std::string, checkpoint, std::less<>>& /*reached*/) {}

  /// Called while the job waits for its store, between retries: releases what cannot be held for that long.
  /// The next put() or commit() takes it up again. Threads: any, while no other call is in progress.
  virtual void store_is_unavailable(std::chrono::milliseconds /*lasted*/) noexcept {}

  /// As source::wait_with.
  virtual void wait_with(const std::shared_ptr<retry_policy>& /*p*/) {}
};

}  // namespace everseen
