#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/verdict.hpp"
#include "everseen/filter/claim_scatter.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/ledger.hpp"

namespace everseen {

/// De-duplication for programs whose events have effects of their own: each takes effect once, whatever dies.
///
/// "Add, then act" loses an event when the program dies in between; "act, then add" doubles it. Here a
/// program claims events, acts on those that are fresh, and puts down in the same transaction up to where it
/// has come: a token. When it begins again it does so from the token, and the events that it had claimed and
/// not acted on get their first verdicts.
///
///     everseen::deduplicator events(everseen::open(url, "clicks"), "count");
///     auto next = events.begin("clicks/0", database.token());       // empty at first
///     while (auto batch = read_from(next)) {
///       if (!events.claim("clicks/0", batch.events, batch.verdicts)) continue;   // again, the same ones
///       database.begin();
///       database.count_fresh(batch);
///       database.keep_token(events.token("clicks/0"));
///       database.commit();                                           // acted and put down, or neither
///       next = events.settle("clicks/0");
///     }
///
/// Within a source, positions ascend, and come again only from begin() on. Two programs that work on one
/// source by mistake get the same verdicts; which of them acts, their transactions must decide. So must it be
/// certain that the transaction of one who died is over before the next reads the token: a lock that his
/// session held tells.
///
/// Threads: one at a time; any number of objects, also of one job, beside each other.
class deduplicator {
 public:
  /// Events of one source, in order; one of each but for `times`.
  struct events {
    std::span<const std::string_view> keys;
    std::span<const std::uint64_t> positions;  ///< ascending
    std::span<const event_time> times = {};    ///< none, one for all, or one an event: as filter::add
    increments counts = {};                    ///< counted in Redis, in the step that judges the event
  };

  /// Opens the job of a filter, which is made if there is none.
  /// @throws  as stored_filter::open_ledger
  deduplicator(filter of, std::string job, std::string_view description = {});

  /// Where to go on with a source: behind what the token says was dealt with.
  /// @param token  what token() said last and was put down; empty: what settle() put down in the ledger
  /// @return the position of the first event to claim; 0 where nothing is known
  /// @throws parameter_error  it is the token of another filter, job or source, or none
  /// @throws storage_error, backend_error, format_error
  std::uint64_t begin(std::string_view source, std::string_view token = {});

  /// Judges events, adds the fresh ones, and remembers the verdicts until they are settled.
  ///
  /// On failure nothing of the events may have an effect: claim the same ones again.
  /// @pre begin(source), out.size() == keys.size()
  /// @throws parameter_error  a key that the filter cannot take, a wrong number of times, positions that do
  /// not ascend; nothing was claimed
  batch_result claim(std::string_view source, const events& some, std::span<verdict> out);

  /// Says that all events claimed so far are dealt with, to be put down in the transaction that does it.
  /// Printable text, some 50 bytes and the names.    @pre begin(source)
  [[nodiscard]] std::string token(std::string_view source) const;

  /// All events claimed so far have had their effect, for good. What is remembered of them may go.
  ///
  /// Where tokens are kept it may be left out for some claims: it costs a round trip to a server.
  /// @return the position of the first event that is to come
  /// @throws storage_error, backend_error  nothing is put down; calling again is safe
  std::uint64_t settle(std::string_view source);

  [[nodiscard]] everseen::ledger& ledger() noexcept { return *ledger_; }
  [[nodiscard]] const filter& of() const noexcept { return filter_; }

 private:
  struct progress {
    std::uint64_t settled = 0;
    std::uint64_t next = 0;
  };
  [[nodiscard]] const progress& at(std::string_view source) const;
  void require_sense(const progress& p, const events& some) const;

  filter filter_;
  std::string job_;
  std::unique_ptr<everseen::ledger> ledger_;
  std::map<std::string, progress, std::less<>> sources_{};
  claim_scatter scatter_{};
  std::vector<digest> digests_{};
  std::vector<std::uint8_t> before_{};
};

}  // namespace everseen
