#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "everseen/core/digest.hpp"
#include "everseen/core/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/store.hpp"

namespace everseen::cli {

/// What a command line says of a filter that is made unless it is there.
struct filter_wishes {
  std::optional<double> error_rate;
  std::optional<std::uint64_t> capacity;
  std::optional<hash_kind> hash;
  std::optional<judge_kind> judge;
  std::optional<std::chrono::milliseconds> window;
  std::optional<std::uint64_t> slices;
  bool existing = false;  ///< none is made
};

/// What was asked for must be what the filter keeps.    @throws parameter_error  it was created otherwise
void must_agree(const filter_wishes& given, const filter& f);

/// A filter that must be there, as a process is started again that was at work on it: one that was lost would
/// be made anew, and all that it had seen be fresh once more.
/// @throws format_error  it is not there    @throws as store::open
[[nodiscard]] filter existing_filter(store& in, const std::string& name);
/// Why a process does not begin anew.    @param what  is gone, as in "the filter 'clicks'"
[[nodiscard]] format_error is_gone(const std::string& what);

}  // namespace everseen::cli
