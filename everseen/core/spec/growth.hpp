#pragma once

#include <cstdint>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/layout.hpp"
#include "everseen/core/spec/spec.hpp"

/// How a slice of a partition grows: pure functions of the spec.
///
/// Layer i holds first_capacity * 2^i keys at rate budget * (1 - r) * r^i with r = 1/2. The rates of all
/// layers sum to less than the budget. A key never added is called seen only if some layer errs, so growth
/// never exceeds the promised rate. (Almeida et al., Scalable Bloom Filters, 2007.)
///
/// Filters with a foreign layout grow by the rules of their own system: RedisBloom's by the same rates, but
/// with its own sizes and `expansion` instead of 2; Guava's not at all.
namespace everseen::growth {

/// Maximum layers of a slice. The 40th holds 2^39 times the first capacity.
inline constexpr unsigned max_own_layers = 40;
/// Maximum layers of any filter. RedisBloom's layers need not get larger, so a chain grows until half of the
/// newest layer's error rate is zero; each layer sets one or two bits a key more than the previous one.
inline constexpr unsigned max_layers = max_layer_probes;

/// The parameters of a layer before it is created.
struct layer_plan {
  std::uint64_t capacity = 0;  ///< keys
  double error_rate = 0;
  geometry shape;
};

/// The part of the error rate that one live slice may use; without a window, the whole rate.
[[nodiscard]] double slice_budget(const spec& s) noexcept;

/// Keys that the first layer of one slice of one partition must hold.
///
/// Keys are assigned to partitions by hash, so a partition's share varies binomially. Five standard
/// deviations are added, so that the whole filter reaches its capacity before any partition is full.
[[nodiscard]] std::uint64_t first_capacity(const spec& s) noexcept;

/// @param index  0 for the first layer
/// @throws full_error  a later layer would exceed max_own_layers, 2^64 keys or 2^62 bits, or have no rate
/// @throws parameter_error  the first layer would; validate() excludes this, so no valid spec has the problem
[[nodiscard]] layer_plan plan_layer(const spec& s, unsigned index);

/// The error that a filter has no room for a key. What to do depends on more than the spec: see
/// filter/room.hpp.
/// @param limit  why it cannot grow; empty if it was created not to
[[nodiscard]] full_error no_room(const spec& s, std::string_view limit = {});

/// Whether a layer of this capacity could be the `index`th layer of such a filter: at most what plan_layer
/// gives.
[[nodiscard]] bool can_have(const spec& s, unsigned index, std::uint64_t capacity) noexcept;

}  // namespace everseen::growth
