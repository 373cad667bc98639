#pragma once

// Shared by the codecs of image.cpp, stream_image.cpp, file_records.cpp and others: magic numbers, versions
// and checked fields. They must match doc/format.md.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/image.hpp"

namespace everseen::image::fields {

inline constexpr std::string_view spec_magic = "EVSNspec";
inline constexpr std::string_view segment_magic = "EVSNsegm";
inline constexpr std::string_view manifest_magic = "EVSNmani";
inline constexpr std::string_view link_magic = "EVSNlink";
inline constexpr std::string_view life_magic = "EVSNends";
inline constexpr std::string_view stream_magic = "EVSNstrm";
inline constexpr std::string_view end_magic = "EVSNdone";

inline constexpr std::size_t magic_bytes = 8;
inline constexpr std::size_t checksum_bytes = 8;
inline constexpr std::uint32_t first_version = 1;  // of every image except the manifest
inline constexpr std::uint32_t manifest_version = 2;

/// Writes consecutive fields into zeroed bytes.
class writer {
 public:
  explicit writer(std::span<std::byte> out) noexcept : out_(out) {}

  template <std::integral Integer>
  void put(Integer value) noexcept {
    store_le(out_.data() + offset_, value);
    offset_ += sizeof value;
  }
  void put(std::span<const std::byte> bytes) noexcept {
    std::memcpy(out_.data() + offset_, bytes.data(), bytes.size());
    offset_ += bytes.size();
  }
  void begin(std::string_view magic, std::uint32_t version = first_version) noexcept {
    put(std::as_bytes(std::span(magic)));
    put(version);
  }
  void skip(std::size_t bytes) noexcept { offset_ += bytes; }
  /// Writes the checksum of the first `covered` bytes.
  void seal(std::size_t covered) noexcept { put(checksum(out_.first(covered))); }
  void seal() noexcept { seal(offset_); }

 private:
  std::span<std::byte> out_;
  std::size_t offset_ = 0;
};

/// Reads consecutive fields. The caller has checked that there are enough bytes.
class reader {
 public:
  /// @param subject  the kind of image, for messages: "segment header"
  reader(std::string_view subject, std::span<const std::byte> from) noexcept
      : subject_(subject), from_(from) {}

  template <std::integral Integer>
  [[nodiscard]] Integer get() noexcept {
    const auto value = load_le<Integer>(from_.data() + offset_);
    offset_ += sizeof value;
    return value;
  }
  template <std::size_t N>
  void get(std::array<std::uint8_t, N>& out) noexcept {
    std::memcpy(out.data(), from_.data() + offset_, N);
    offset_ += N;
  }
  [[nodiscard]] std::span<const std::byte> take(std::size_t bytes) noexcept {
    offset_ += bytes;
    return from_.subspan(offset_ - bytes, bytes);
  }

  /// Checks magic and version. Comes first, so that a newer image is reported as newer, not as damaged.
  void begin(std::string_view magic, std::uint32_t version = first_version);
  /// @throws format_error  the checksum at `offset` does not match the bytes before it (up to `covered`)
  void check_seal(std::size_t offset, std::size_t covered) const;
  /// Skips bytes that this version leaves zero for later versions.
  void reserved(std::size_t bytes);
  /// Offset of the next field.
  [[nodiscard]] std::size_t position() const noexcept { return offset_; }
  /// Throws a format_error that names the image and the field.
  [[noreturn]] void refuse(const std::string& field) const;

 private:
  std::string_view subject_;
  std::span<const std::byte> from_;
  std::size_t offset_ = 0;
};

/// Checks layout, probes and length of a segment.
void check_shape(const reader& in, const geometry& shape);

/// Checks, segment by segment, that ids ascend and that each slice has layers 0, 1, 2, … without a gap.
class segment_order {
 public:
  /// @param last  the previous segment; nothing at the start
  explicit segment_order(const spec& s, std::optional<segment_id> last = {}) noexcept
      : spec_(s), last_(last) {}
  /// Also checks that the filter may have this segment: its partition, its layout and its capacity. A
  /// capacity above the plan of growth would let the layer overfill silently.
  void check(const reader& in, const segment_id& id, const geometry& shape, std::uint64_t capacity);

 private:
  const spec& spec_;
  std::optional<segment_id> last_;
};

}  // namespace everseen::image::fields
