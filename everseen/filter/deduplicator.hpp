#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen {

class claim_scatter;

/// De-duplication for programs whose events have side effects: each event takes effect once, even after a
/// crash.
///
/// "Add, then act" loses an event if the program crashes in between; "act, then add" repeats it. With this
/// class a program claims events, acts on the fresh ones, and stores its progress, a token, in the same
/// transaction. After a restart it resumes from the token. Events that were claimed but not acted on get the
/// same verdicts as before.
///
///     everseen::deduplicator events(everseen::open(url, "clicks"), "count");
///     auto next = events.begin("clicks/0", database.token());       // empty at first
///     while (auto batch = read_from(next)) {
///       if (!events.claim("clicks/0", batch.events, batch.verdicts)) continue;   // retry the same events
///       database.begin();
///       database.count_fresh(batch);
///       database.keep_token(events.token("clicks/0"));
///       database.commit();                                           // effects and token, or neither
///       next = events.settle("clicks/0");
///     }
///
/// Within a source, positions ascend. A position is claimed again only after begin() or after a failed claim.
/// If two programs process one source by mistake, both get the same verdicts; their transactions must decide
/// which of them acts. After a crash, the successor must not read the token before the transaction of the
/// crashed program has ended. A lock held by the database session of that program makes this certain.
///
/// Threads: one at a time per object; any number of objects, even of one job.
class deduplicator {
 public:
  /// Events of one source, in order. Each span has one entry per event, except `times`.
  struct events {
    std::span<const std::string_view> keys;
    std::span<const std::uint64_t> positions;  ///< ascending
    std::span<const event_time> times = {};    ///< none, one for all, or one per event, as in filter::add
    increments counts = {};                    ///< added in Redis in the step that judges the event
  };

  /// Opens the job of a filter; creates the job if it does not exist.
  /// @throws  as stored_filter::open_ledger
  deduplicator(filter f, std::string job, std::string_view description = {});
  deduplicator(deduplicator&&) noexcept;
  deduplicator& operator=(deduplicator&&) noexcept;
  ~deduplicator();

  /// Starts a source, or resumes it after the last event that was processed.
  /// @param token  the last token() that was stored; if empty, the ledger's position from settle() is used
  /// @return the position of the first event to claim; 0 if none is known
  /// @throws parameter_error  the token is malformed, or belongs to another filter, job or source
  /// @throws storage_error, backend_error, format_error
  std::uint64_t begin(std::string_view source, std::string_view token = {});

  /// Judges events, adds the fresh ones, and remembers the verdicts until they are settled.
  ///
  /// After a failure, act on none of the events; claim the same ones again.
  /// @param out  one verdict per event    @pre begin(source)
  /// @throws parameter_error  the filter cannot take a key, the number of verdicts or times is wrong,
  ///   positions do not ascend, or a time is too far ahead (filter::must_accept); nothing was claimed
  [[nodiscard]] batch_result claim(std::string_view source, const events& some, std::span<verdict> out);

  /// A text that records that all events claimed so far are processed. Store it in the transaction that acts
  /// on them. Printable text: about 50 bytes plus the names.    @pre begin(source)
  [[nodiscard]] std::string token(std::string_view source) const;

  /// Declares that all events claimed so far have had their effect durably. The record of their verdicts may
  /// be deleted.
  ///
  /// Programs that store tokens need not call this after every claim: it costs a round trip to a server.
  /// @return the position of the next event
  /// @throws storage_error, backend_error  nothing was settled; calling again is safe
  std::uint64_t settle(std::string_view source);

  [[nodiscard]] everseen::ledger& ledger() noexcept { return *ledger_; }
  [[nodiscard]] const filter& of() const noexcept { return filter_; }

 private:
  struct progress {
    std::uint64_t settled = 0;
    std::uint64_t next = 0;
  };
  [[nodiscard]] const progress& at(std::string_view source) const;
  void require_sense(const progress& p, const events& some, std::size_t verdicts) const;

  filter filter_;
  std::string job_;
  std::unique_ptr<everseen::ledger> ledger_;
  std::map<std::string, progress, std::less<>> sources_{};
  std::unique_ptr<claim_scatter> scatter_;
  std::vector<digest> digests_{};
  std::vector<std::uint8_t> before_{};
};

}  // namespace everseen
