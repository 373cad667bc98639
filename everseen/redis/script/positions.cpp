#include "everseen/redis/script/positions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace everseen::redis {

namespace {

constexpr char short_string = '\xa0';  // MessagePack: + length, up to 31 bytes

/// Records of equal length, written one after the other.
class records {
 public:
  records(std::uint64_t bits, unsigned probes, std::size_t keys)
      : probes_(probes),
        longest_(std::to_string(bits - 1).size()),
        stride_(probes * (1 + longest_)),
        out_(keys * stride_, '\0'),
        next_(out_.data()) {}

  /// @param positions  one a probe, or fewer: the last one fills the record up
  void append(std::span<const std::uint64_t> positions) noexcept {
    char* at = next_;
    for (unsigned i = 0; i < probes_; ++i) {
      const std::uint64_t position = positions[std::min<std::size_t>(i, positions.size() - 1)];
      char* const end = std::to_chars(at + 1, at + 1 + longest_, position).ptr;
      *at = static_cast<char>(static_cast<unsigned char>(short_string) + (end - at - 1));
      at = end;
    }
    next_ += stride_;
  }
  [[nodiscard]] std::string take() noexcept { return std::move(out_); }

 private:
  unsigned probes_;
  std::size_t longest_;
  std::size_t stride_;
  std::string out_;
  char* next_;
};

}  // namespace

std::string pack_positions(const geometry& shape, std::span<const digest> digests, unsigned probes) {
  records out(shape.bits(), probes, digests.size());
  std::array<std::uint64_t, max_probes> positions{};
  for (const digest& d : digests) out.append(std::span(positions).first(bit_positions(shape, d, positions)));
  return out.take();
}

std::string pack_positions(std::span<const std::uint64_t> positions, unsigned probes, std::uint64_t bits) {
  records out(bits, probes, positions.size() / probes);
  for (std::size_t at = 0; at < positions.size(); at += probes) out.append(positions.subspan(at, probes));
  return out.take();
}

}  // namespace everseen::redis
