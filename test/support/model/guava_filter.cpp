#include "test/support/model/guava_filter.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/murmur.hpp"

#include "test/support/bits.hpp"

namespace everseen::foreign::guava {

namespace {

constexpr std::size_t word_bytes = 8;

/// Space for the positions of one key, so that none is allocated.
class key_positions {
 public:
  key_positions(const shape& s, std::string_view element) noexcept : all_(std::span(room_).first(s.probes)) {
    positions(s.algorithm, murmur3_x64_128(element), s.bits(), all_);
  }
  [[nodiscard]] std::span<const std::uint64_t> all() const noexcept { return all_; }

 private:
  std::array<std::uint64_t, max_probes> room_;
  std::span<std::uint64_t> all_;
};

}  // namespace

filter::filter(const shape& s) : filter(s, std::vector<std::byte>(s.words * sizeof(std::uint64_t))) {}

filter::filter(const shape& s, std::vector<std::byte> bits) : shape_(s), bits_(std::move(bits)) {
  EVERSEEN_ASSERT(s.probes > 0 && s.words > 0 && s.words <= max_words);
  EVERSEEN_ASSERT(bits_.size() == s.words * sizeof(std::uint64_t));
}

bool filter::add(std::string_view element) {
  bool changed = false;
  const key_positions positions(shape_, element);
  for (const std::uint64_t each : positions.all()) changed |= set_bit(bits_, each);
  return changed;
}

bool filter::may_contain(std::string_view element) const {
  const key_positions positions(shape_, element);
  return std::ranges::all_of(positions.all(), [this](std::uint64_t each) { return test_bit(bits_, each); });
}

std::vector<std::byte> encode(const filter& f) {
  const auto header = encode_header(f.get_shape());
  std::vector<std::byte> stream(header.size() + f.bits().size());
  std::ranges::copy(header, stream.begin());
  convert_words(f.bits(), std::span(stream).subspan(header.size()));
  return stream;
}

filter decode(std::span<const std::byte> stream) {
  const shape s = decode_header(stream);
  const auto words = stream.subspan(stream_header_bytes);
  if (words.size() != s.words * word_bytes)
    throw format_error("its header promises " + std::to_string(s.words * word_bytes) +
                       " bytes of bits, and " + std::to_string(words.size()) + " follow");
  std::vector<std::byte> bits(words.size());
  convert_words(words, bits);
  return {s, std::move(bits)};
}

}  // namespace everseen::foreign::guava
