#pragma once

#include <concepts>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace everseen {

/// A range of keys: its elements convert to std::string_view. Spans of views need no conversion and have
/// their own overloads.
template <typename Range>
concept key_range = std::ranges::input_range<Range> &&
    std::convertible_to<std::ranges::range_reference_t<Range>, std::string_view> &&
    !std::convertible_to<Range, std::span<const std::string_view>>;

/// The keys of a range as a span of views, valid as long as both live.
class key_views {
 public:
  template <key_range Keys>
  explicit key_views(Keys& keys) {
    using key = std::ranges::range_reference_t<Keys>;
    if constexpr (std::ranges::sized_range<Keys>) views_.reserve(std::ranges::size(keys));
    if constexpr (std::ranges::forward_range<Keys> && outlives_its_iterator<key>) {
      for (auto&& one : keys) views_.emplace_back(static_cast<std::string_view>(one));
    } else {
      for (auto&& one : keys) made_.emplace_back(static_cast<std::string_view>(one));
      views_.assign(made_.begin(), made_.end());
    }
  }

  [[nodiscard]] std::span<const std::string_view> all() const noexcept { return views_; }

 private:
  /// Whether a key stays where it is: an object of the range itself, a view or a pointer.
  template <typename Key>
  static constexpr bool outlives_its_iterator =
      std::is_lvalue_reference_v<Key> || std::is_pointer_v<std::remove_cvref_t<Key>> ||
      std::same_as<std::remove_cvref_t<Key>, std::string_view>;

  std::vector<std::string> made_{};
  std::vector<std::string_view> views_{};
};

}  // namespace everseen
