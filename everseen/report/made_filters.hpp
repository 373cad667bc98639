#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "everseen/core/spec/spec.hpp"
#include "everseen/store/port/store.hpp"

/// The filters that the verbs make on a store, for `everseen plan --store`. They have the store's defaults.
namespace everseen {

struct made_filter {
  std::string made_by;  ///< the verb, and where it makes this filter, as in "create, where all servers have
                        ///< the module"
  spec properties;

  /// Of the first layer, over all partitions.
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] double bits_per_key() const;
};

/// On any Redis with one server. Asks none.
/// @param module  all servers have the module; false: unknown, so both judges are shown
/// @throws parameter_error  the numbers fit no filter
[[nodiscard]] std::vector<made_filter> filters_made_on_redis(const spec_request& request, bool module);

/// On this store. Servers are asked whether they have the module.    @throws  as store::plan
[[nodiscard]] std::vector<made_filter> filters_made_on(const store& place, const spec_request& request);

}  // namespace everseen
