#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "everseen/core/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/store.hpp"

/// What imports and exports of other systems' filters refuse in the same words.
namespace everseen {

/// @param segments  the length of each in bytes
/// @throws parameter_error  they would not fit into the store, as far as it knows
void must_have_room(const store& into, std::span<const std::uint64_t> segments);

/// @throws parameter_error  the filter errs more rarely than everseen's filters can
void must_be_possible(double error_rate);

/// @throws parameter_error  the filter sets more bits a key than everseen does
void must_be_settable(unsigned probes);

/// @param system  as in "Guava"    @param layout  what a filter must be made as, to go there
[[nodiscard]] parameter_error no_such_export(const filter& f, std::string_view system,
                                             std::string_view layout);

}  // namespace everseen
