#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/filter/filter.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::cli {

/// A line of `everseen list` and of `everseen top`.
struct listed_filter {
  std::string name;  ///< as a terminal may show it
  filter_info info;
  std::string fault;  ///< why there is no info; empty: there is
};

/// All filters of a store, by name; a damaged one does not hide the others.    @throws as store::list
[[nodiscard]] std::vector<listed_filter> filters_of(store& place);

/// What a reader could not explain from the figures alone, such as more keys than the capacity; may be empty.
[[nodiscard]] std::string condition_of(const filter_info& info);

/// The columns of a terminal that a name takes, or more: twice as many for each character beyond ASCII.
[[nodiscard]] std::size_t most_columns(std::string_view name);

}  // namespace everseen::cli
