#pragma once

#include <cstddef>
#include <optional>

#include "everseen/core/partition.hpp"
#include "everseen/store/ledger.hpp"

namespace everseen {

/// How far a claim comes in a partition.
struct claim_reach {
  std::size_t judged = 0;               ///< events from the first on that have their verdict
  std::optional<batch_failure> full{};  ///< there is no room for the next
};

/// Says what events will be called when their keys are added, and changes nothing yet, so that it can be put
/// down before.
///
/// As partition::add would, but for what the bits of keys of this very batch would cover: there this errs
/// less.
/// @param batch  of which nothing was judged before; verdicts go to batch.keys.out
/// @return how far: up to the event that is full, or that moves the window beyond keys which the next ones
/// would be taken for. Those are foretold once the window has moved.
/// Cost: a look-up, and for each fresh key an entry in a hash table. Threads: needs use of the partition that
/// nobody else changes.
[[nodiscard]] claim_reach foretell(const partition& in, const spec& s, const claim_batch& batch);

}  // namespace everseen
