#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/port/store.hpp"

/// What all imports and exports of other systems' filters share: their errors, and the size of their buffers.
namespace everseen {

inline constexpr std::size_t foreign_buffer_bytes = std::size_t{256} << 10;

/// @param segments  the length of each, in bytes
/// @throws parameter_error  they do not fit into the store, as far as its limits are known
void must_have_room(const store& into, std::span<const std::uint64_t> segments);

/// @param system  for example "Guava"    @param layout  the layout that this export needs
[[nodiscard]] parameter_error no_such_export(const filter& f, std::string_view system,
                                             std::string_view layout);

}  // namespace everseen
