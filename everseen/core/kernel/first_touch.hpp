#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "everseen/core/hash/digest.hpp"
#include "everseen/core/layout/layout.hpp"

namespace everseen {

/// Cache lines of a segment that a key touches; scattered bits may share some.
[[nodiscard]] constexpr unsigned touched_lines(const geometry& shape) noexcept {
  return is_scattered(shape.layout) ? shape.probes : lines_per_key(shape.layout);
}

/// Whether a segment with this many keys has pages that no key has touched yet: 2 % of them, once each has
/// been touched four times on average.
[[nodiscard]] constexpr bool has_untouched_pages(const geometry& shape, std::uint64_t keys) noexcept {
  constexpr std::uint64_t page_bytes = 4096;
  return keys < 4 * shape.bytes / page_bytes / touched_lines(shape);
}

/// Writes to the lines of keys that are about to be added, and changes no bit.
///
/// A kernel reads a line before it sets bits there. If that is the first touch of the line's page, the system
/// maps a page of zeros for the read, and replaces it for the write: two page faults, which cost more than
/// all else about a key. After a write there is only one. Only pages that the kernel writes to anyway are
/// touched.
///
/// Cost: nothing measurable where the pages have been touched. Only x86-64 has an instruction that asks for
/// the right to write before it reads; elsewhere this does nothing.
/// Threads: as adding to the segment.
void write_first(std::byte* segment, const geometry& shape, std::span<const digest> keys) noexcept;

}  // namespace everseen
