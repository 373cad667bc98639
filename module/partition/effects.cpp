#include "module/partition/effects.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "everseen/core/base/tally_of.hpp"

namespace everseen::redis_module {

namespace {

struct range {
  std::uint64_t from;
  std::uint64_t to;  // exclusive
};

/// Approximate overhead of a SETRANGE in bytes: resending up to this many unchanged bytes is cheaper.
constexpr std::uint64_t gap_bytes = 128;

/// Calls visit(positions) for each fresh key.
template <typename Visit>
void for_each_fresh(const geometry& shape, std::span<const digest> digests, std::span<const verdict> verdicts,
                    Visit visit) {
  std::array<std::uint64_t, max_probes> positions;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (verdicts[i] != verdict::fresh) continue;
    const std::size_t count = bit_positions(shape, digests[i], positions);
    visit(std::span(positions).first(count));
  }
}

/// Collects the bytes to replicate as ranges: whole lines, or single bytes for scattered layouts.
void note(std::span<const std::uint64_t> positions, std::uint64_t unit, std::vector<range>& touched) {
  std::uint64_t last = ~std::uint64_t{0};
  for (const std::uint64_t p : positions) {
    const std::uint64_t from = p / 8 / unit * unit;
    if (from != last) touched.push_back({from, from + unit});
    last = from;
  }
}

void replicate_ranges(api::context* ctx, api::string* segment, const std::byte* bytes,
                      std::vector<range>& touched) {
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

/// `BITFIELD segment SET u1 p 1 SET u1 q 1 ...`, reusing its words.
class bit_setter {
 public:
  bit_setter(api::context* ctx, api::string* segment) : ctx_(ctx), segment_(segment) {}

  void set(std::span<const std::uint64_t> positions) {
    words_.assign(1, segment_);
    offsets_.clear();
    offsets_.reserve(positions.size());
    for (const std::uint64_t p : positions) {
      api::string* const offset = offsets_.emplace_back(ctx_, std::to_string(p)).get();
      words_.insert(words_.end(), {set_.get(), bit_.get(), offset, one_.get()});
    }
    api::replicate(ctx_, "BITFIELD", "v", words_.data(), words_.size());
  }

 private:
  api::context* ctx_;
  api::string* segment_;
  value set_{ctx_, "SET"}, bit_{ctx_, "u1"}, one_{ctx_, "1"};
  std::vector<value> offsets_{};
  std::vector<api::string*> words_{};
};

}  // namespace

std::size_t replicate(api::context* ctx, api::string* segment, const std::byte* bytes, const geometry& shape,
                      std::span<const digest> digests, std::span<const verdict> verdicts) {
  const std::size_t bits =
      is_scattered(shape.layout) ? static_cast<std::size_t>(tally_of(verdicts).fresh) * shape.probes : 0;
  // If bits are further apart on average, few could share a SETRANGE, and a bit of a BITFIELD costs half of a
  // SETRANGE.
  if (bits > 0 && bits * (gap_bytes / 2) < shape.bytes) {
    bit_setter to_followers(ctx, segment);
    for_each_fresh(shape, digests, verdicts,
                   [&](std::span<const std::uint64_t> positions) { to_followers.set(positions); });
    return bits;
  }
  static std::vector<range> touched;
  touched.clear();
  const std::uint64_t unit = bits > 0 ? 1 : line_bytes;
  for_each_fresh(shape, digests, verdicts,
                 [&](std::span<const std::uint64_t> positions) { note(positions, unit, touched); });
  replicate_ranges(ctx, segment, bytes, touched);
  return bits;
}

}  // namespace everseen::redis_module
