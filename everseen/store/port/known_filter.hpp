#pragma once

#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen {

/// The error for a name that no filter of a store has: with the nearest name, or how to list them.
///
/// Cost: lists the store; without a suggestion if that fails.
[[nodiscard]] no_filter unknown_filter(const store& in, std::string_view name);

/// The result of `call`; reports an unknown name as unknown_filter() does.
template <typename Call>
decltype(auto) with_known_filter(const store& in, std::string_view name, Call call) {
  try {
    return call();
  } catch (const filter_expired&) {
    throw;
  } catch (const no_filter&) {
    throw unknown_filter(in, name);
  }
}

}  // namespace everseen
