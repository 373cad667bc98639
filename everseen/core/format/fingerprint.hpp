#pragma once

#include <string>

#include "everseen/core/spec/spec.hpp"

namespace everseen {

/// Distinguishes a filter from others that have its name at another time: a one-way hash of its spec, as 32
/// hexadecimal digits.
///
/// Filters that are created with the same options differ in their secret seed, which the digits do not
/// reveal. Those with the hash of another system have no seed, so two of the same spec have the same
/// fingerprint. A reset does not change it.
[[nodiscard]] std::string fingerprint_of(const spec& s);

}  // namespace everseen
