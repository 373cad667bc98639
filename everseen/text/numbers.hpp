#pragma once

#include <cstdint>
#include <string>

/// Numbers as people read them. They are read from people by core/base/quantity.
namespace everseen {

/// 12,345,678
[[nodiscard]] std::string format_count(std::uint64_t count);

/// Bytes with a unit and three digits: 64 B, 1.50 KiB, 34.3 MiB.
[[nodiscard]] std::string format_bytes(double bytes);

/// A rate as printed: 0, or two digits and a power of ten, as in 9.5e-07.
[[nodiscard]] std::string format_rate(double rate);

/// A rate as typed, with at most three digits: 1e-6, 0.01.
[[nodiscard]] std::string typed_rate(double rate);

}  // namespace everseen
