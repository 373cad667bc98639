#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "everseen/redis/filter/sealable_filter.hpp"

namespace everseen::redis {

/// A filter in place, and those that it asks first: a rebuilt filter asks the one before until it is filled.
///
/// It does not change: where one is asked no more, there is another generation.
struct generation {
  using keys = std::span<const partition_batch>;
  /// Adds keys to a filter, or looks them up.
  using judging = std::function<batch_result(sealable_filter&, keys)>;

  std::shared_ptr<sealable_filter> newest;
  std::vector<std::shared_ptr<sealable_filter>> before{};  ///< the one that it succeeds first

  [[nodiscard]] std::vector<image::filter_id> ids() const;
  /// What one of those before has is seen, and what one calls late is not fresh; and the newest gets all the
  /// same, so that it is not lost with the others.
  batch_result judge(keys batches, const judging& by) const;
};

}  // namespace everseen::redis
