#include "everseen/core/kernel/first_touch.hpp"

#include <algorithm>
#include <array>

namespace everseen {

#if defined(__x86_64__)

namespace {

/// In assembly, since a compiler may divide it into a read and a write, or leave it out.
void write_at(std::byte* address) noexcept {
  asm volatile("orb $0, %0" : "+m"(*address));
}

void write_lines(std::byte* segment, const geometry& shape, std::span<const digest> keys) noexcept {
  constexpr std::size_t distance = 32;  // as the kernels': most pages of a batch have been touched
  const bool two = lines_per_key(shape.layout) == 2;
  const auto line = [&](draw::line_source source) {
    return segment + draw::reduce(source.index, shape.lines()) * line_bytes;
  };
  const auto prefetch = [&](const digest& d) {
    __builtin_prefetch(line(draw::first_line(d)));
    if (two) __builtin_prefetch(line(draw::second_line(d)));
  };
  for (const digest& d : keys.first(std::min(keys.size(), distance))) prefetch(d);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + distance < keys.size()) prefetch(keys[i + distance]);
    write_at(line(draw::first_line(keys[i])));
    if (two) write_at(line(draw::second_line(keys[i])));
  }
}

void write_bits(std::byte* segment, const geometry& shape, std::span<const digest> keys) noexcept {
  std::array<std::uint64_t, max_layer_probes> positions;
  for (const digest& d : keys) {
    const std::size_t count = bit_positions(shape, d, positions);
    for (const std::uint64_t position : std::span(positions).first(count)) write_at(segment + position / 8);
  }
}

}  // namespace

void write_first(std::byte* segment, const geometry& shape, std::span<const digest> keys) noexcept {
  is_scattered(shape.layout) ? write_bits(segment, shape, keys) : write_lines(segment, shape, keys);
}

#else

void write_first(std::byte* /*segment*/, const geometry& /*shape*/,
                 std::span<const digest> /*keys*/) noexcept {}

#endif

}  // namespace everseen
