#pragma once

#include <cstdint>

#include "everseen/core/layout.hpp"
#include "everseen/core/spec.hpp"

/// How a slice of a partition grows: pure functions of the spec.
///
/// Layer i holds first_capacity * 2^i keys at rate budget * (1 - r) * r^i with r = 1/2. The rates of all
/// layers sum to less than the budget, so growth never breaks the promise: a key never added is called seen
/// only if some layer errs. (Almeida et al., Scalable Bloom Filters, 2007.)
///
/// Filters with a foreign layout grow as their own system has it: RedisBloom's by the same rates, but with
/// its own sizes and `expansion` instead of 2; Guava's not at all.
namespace everseen::growth {

/// Layers that a slice may have. The 40th holds 2^39 times the first capacity.
inline constexpr unsigned max_own_layers = 40;
/// Layers that any filter may have. RedisBloom's, whose layers need not become larger, go on until one would
/// set more than max_probes bits a key; each sets one or two more than the one before.
inline constexpr unsigned max_layers = max_probes;

/// Everything about a layer before it exists.
struct layer_plan {
  std::uint64_t capacity = 0;  ///< keys
  double error_rate = 0;
  geometry shape;
};

/// The part of the error rate that one live slice may use; the whole rate where there is no window.
[[nodiscard]] double slice_budget(const spec& s) noexcept;

/// Keys that the first layer of one slice of one partition must hold.
///
/// Keys fall into partitions by hash, so a partition's share varies binomially. Five standard deviations are
/// added, so that the whole filter holds its capacity before any partition is full.
[[nodiscard]] std::uint64_t first_capacity(const spec& s) noexcept;

/// @param index  0 for the first layer
/// @throws full_error  when a later layer would be beyond max_own_layers, max_probes, 2^64 keys or 2^62 bits
/// @throws parameter_error  when the first one already would: validate() asks, so no valid spec does
[[nodiscard]] layer_plan plan_layer(const spec& s, unsigned index);

/// Whether a layer of this capacity could be the `index`th of such a filter: no more than is planned for.
[[nodiscard]] bool can_have(const spec& s, unsigned index, std::uint64_t capacity) noexcept;

}  // namespace everseen::growth
