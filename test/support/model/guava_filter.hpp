#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/foreign/guava/guava.hpp"

/// Guava's filter in memory, written after its source and compared with recorded answers of the original:
/// what everseen's filters of this layout must agree with.
namespace everseen::foreign::guava {

/// A filter in memory. Elements are outputs of a funnel. Threads: as a container of the standard library.
class filter {
 public:
  /// Empty.    @pre 0 < s.probes, 0 < s.words <= max_words
  explicit filter(const shape& s);
  /// @param bits  in Redis's bit order    @pre bits.size() == 8 * s.words
  filter(const shape& s, std::vector<std::byte> bits);

  /// @return whether a bit changed, like put(): true means certainly not added before
  bool add(std::string_view element);
  [[nodiscard]] bool may_contain(std::string_view element) const;

  [[nodiscard]] const shape& get_shape() const noexcept { return shape_; }
  /// In Redis's bit order; the stream's order differs.
  [[nodiscard]] std::span<const std::byte> bits() const noexcept { return bits_; }

 private:
  shape shape_;
  std::vector<std::byte> bits_;
};

[[nodiscard]] std::vector<std::byte> encode(const filter& f);
/// @param stream  the complete stream
/// @throws format_error  as decode_header, or the length does not match the header; both are compared before
///   anything is allocated
[[nodiscard]] filter decode(std::span<const std::byte> stream);

}  // namespace everseen::foreign::guava
