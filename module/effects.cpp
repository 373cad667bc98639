#include "module/effects.hpp"

#include <algorithm>
#include <array>

namespace everseen::redis_module {

namespace {

struct range {
  std::uint64_t from;
  std::uint64_t to;  // behind the last
};

/// What a SETRANGE costs beside its bytes, roughly: unchanged bytes up to here are cheaper than another one.
constexpr std::uint64_t gap_bytes = 128;

/// Where the bits of a key are: whole lines, or single bytes where there are none.
void note_key(std::vector<range>& touched, const geometry& shape, const digest& d) {
  std::array<std::uint64_t, max_probes> positions;
  const std::size_t count = bit_positions(shape, d, positions);
  const std::uint64_t unit = lines_per_key(shape.layout) == 0 ? 1 : line_bytes;
  std::uint64_t last = ~std::uint64_t{0};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t from = positions[i] / 8 / unit * unit;
    if (from != last) touched.push_back({from, from + unit});
    last = from;
  }
}

}  // namespace

void replicate_lines(api::context* ctx, api::string* segment, const std::byte* bytes, const geometry& shape,
                     std::span<const digest> digests, std::span<const verdict> verdicts) {
  static std::vector<range> touched;
  touched.clear();
  for (std::size_t i = 0; i < digests.size(); ++i)
    if (verdicts[i] == verdict::fresh) note_key(touched, shape, digests[i]);
  std::ranges::sort(touched, {}, &range::from);
  for (std::size_t i = 0; i < touched.size();) {
    range one = touched[i++];
    while (i < touched.size() && touched[i].from <= one.to + gap_bytes)
      one.to = std::max(one.to, touched[i++].to);
    api::replicate(ctx, "SETRANGE", "slb", segment, static_cast<long long>(one.from),
                   reinterpret_cast<const char*>(bytes + one.from),
                   static_cast<std::size_t>(one.to - one.from));
  }
}

}  // namespace everseen::redis_module
