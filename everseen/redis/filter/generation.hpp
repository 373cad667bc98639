#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "everseen/redis/filter/sealable_filter.hpp"

namespace everseen::redis {

/// The filter in place and those that it asks first: a rebuilt filter asks the previous one until it is
/// filled.
///
/// Immutable: when a filter is no longer asked, another generation object replaces this one.
struct generation {
  using keys = std::span<const partition_batch>;
  /// Adds keys to a filter, or looks them up.
  using judging = std::function<batch_result(sealable_filter&, keys)>;

  std::shared_ptr<sealable_filter> newest;
  std::vector<std::shared_ptr<sealable_filter>> before{};  ///< the one that it succeeds first

  [[nodiscard]] std::vector<image::filter_id> ids() const;
  /// A key that a previous generation has is `seen`, and one that it calls late is not `fresh`. The newest
  /// generation gets these keys nevertheless; otherwise they would be lost with the others.
  batch_result judge(keys batches, const judging& by) const;
};

}  // namespace everseen::redis
