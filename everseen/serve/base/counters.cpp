#include "everseen/serve/base/counters.hpp"

#include <algorithm>

#include "everseen/core/base/error.hpp"

namespace everseen::serve {

void duration_histogram::note(clock::duration took) noexcept {
  const auto ns = static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()));
  const auto* const found = std::lower_bound(ends_ns.begin(), ends_ns.end(), ns);
  counts_.add(static_cast<std::size_t>(found - ends_ns.begin()), 1);
  counts_.add(sum_, ns);
}

std::vector<std::uint64_t> duration_histogram::classes() const {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i <= ends_ns.size(); ++i) all.push_back(counts_.sum(i));
  return all;
}

void batch_counters::note(question asks, const batch_result& outcome) noexcept {
  if (outcome) return note(asks, *outcome, false);
  const batch_failure& failure = outcome.error();
  note(asks, failure.done, is_outage(failure));
}

void batch_counters::note_unanswered(question asks, std::uint64_t keys, bool by_outage) noexcept {
  note(asks, tally{.unknown = keys}, by_outage);
}

void batch_counters::note(question asks, const tally& t, bool outage) noexcept {
  const std::size_t from = first(asks);
  if (t.fresh > 0) counts_.add(from, t.fresh);
  if (t.seen > 0) counts_.add(from + 1, t.seen);
  if (t.late > 0) counts_.add(from + 2, t.late);
  if (t.unknown > 0) counts_.add(from + 3, t.unknown);
  counts_.add(from + 4, 1);
  if (outage) counts_.add(outages_, 1);
  // Many threads add; they can share the line for reading as long as none writes to it.
  if (asks == question::add && !was_added_to_) was_added_to_ = true;
}

tally batch_counters::verdicts(question asks) const noexcept {
  const std::size_t from = first(asks);
  return {counts_.sum(from), counts_.sum(from + 1), counts_.sum(from + 2), counts_.sum(from + 3)};
}

}  // namespace everseen::serve
