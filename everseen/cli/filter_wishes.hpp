#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "everseen/core/digest.hpp"
#include "everseen/filter/filter.hpp"

namespace everseen::cli {

/// What a command line says of a filter that is made unless it is there.
struct filter_wishes {
  std::optional<double> error_rate;
  std::optional<std::uint64_t> capacity;
  std::optional<hash_kind> hash;
  std::optional<std::chrono::milliseconds> window;
  std::optional<std::uint64_t> slices;
};

/// What was asked for must be what the filter keeps.    @throws parameter_error  it was created otherwise
void must_agree(const filter_wishes& given, const filter& f);

}  // namespace everseen::cli
