#include "everseen/core/layout/layout.hpp"

#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/layout/foreign.hpp"

namespace everseen {

namespace {

constexpr std::array<std::pair<layout_kind, std::string_view>, all_layouts.size() + foreign_layouts.size()>
    layout_names = {{
        {layout_kind::classic, "classic"},
        {layout_kind::line_8x64, "line-8x64"},
        {layout_kind::line_16x32, "line-16x32"},
        {layout_kind::two_line_8x64, "two-line-8x64"},
        {layout_kind::two_line_16x32, "two-line-16x32"},
        {layout_kind::guava32, "guava32"},
        {layout_kind::guava64, "guava64"},
        {layout_kind::redisbloom, "redisbloom"},
    }};

/// Redis's number for bit `bit` (0 = least significant) of a little-endian word that starts at byte `byte`.
constexpr std::uint64_t redis_bit(std::uint64_t byte, unsigned bit) noexcept {
  return 8 * (byte + bit / 8) + 7 - bit % 8;
}

std::size_t line_positions(const geometry& shape, draw::line_source source,
                           std::span<std::uint64_t> out) noexcept {
  const unsigned words = words_per_line(shape.layout);
  const std::uint64_t line = draw::reduce(source.index, shape.lines());
  for (unsigned w = 0; w < words; ++w) {
    const unsigned bit = words == 8 ? draw::bit_8x64(source.pattern, w) : draw::bit_16x32(source.pattern, w);
    out[w] = redis_bit(line * line_bytes + w * (line_bytes / words), bit);
  }
  return words;
}

template <typename Positions>
std::size_t scattered_positions(const geometry& shape, const digest& d,
                                std::span<std::uint64_t> out) noexcept {
  Positions positions(d, shape.bits());
  for (std::uint64_t& each : out.first(shape.probes)) each = positions.next();
  return shape.probes;
}

}  // namespace

std::string_view to_string(layout_kind kind) noexcept {
  for (const auto& [value, name] : layout_names)
    if (value == kind) return name;
  return "invalid";
}

std::optional<layout_kind> parse_own_layout(std::string_view name) noexcept {
  for (const auto& [value, known] : layout_names)
    if (known == name && !is_foreign(value)) return value;
  return std::nullopt;
}

std::optional<layout_kind> parse_foreign_layout(std::string_view name) noexcept {
  for (const auto& [value, known] : layout_names)
    if (known == name && is_foreign(value)) return value;
  return std::nullopt;
}

std::size_t bit_positions(const geometry& shape, const digest& d, std::span<std::uint64_t> out) noexcept {
  EVERSEEN_ASSERT(out.size() >= shape.probes);
  switch (shape.layout) {
    case layout_kind::classic:
      return scattered_positions<draw::positions>(shape, d, out);
    case layout_kind::guava32:
      return scattered_positions<draw::guava32_positions>(shape, d, out);
    case layout_kind::guava64:
      return scattered_positions<draw::guava64_positions>(shape, d, out);
    case layout_kind::redisbloom:
      return scattered_positions<draw::redisbloom_positions>(shape, d, out);
    default:
      break;
  }
  std::size_t written = line_positions(shape, draw::first_line(d), out);
  if (lines_per_key(shape.layout) == 2)
    written += line_positions(shape, draw::second_line(d), out.subspan(written));
  return written;
}

}  // namespace everseen
