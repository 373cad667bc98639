#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "everseen/core/redisbloom/bloom_request.hpp"

/// The words of EVERSEEN.RESERVE, EVERSEEN.ADD and EVERSEEN.CHECK, which mean the same in a server with the
/// module and in `everseen serve`: doc/commands.md.
namespace everseen::commands {

/// All words of a request; the first is the command's name.
using words = redisbloom::bloom_words;
/// Why a request was refused.
using refusal = redisbloom::bloom_refusal;

/// The longest time that a client may give, in milliseconds.
inline constexpr std::int64_t longest_ms = std::int64_t{36'500} * 24 * 60 * 60 * 1000;

/// The words after a command's fixed ones, read from left to right. Threads: one.
class option_reader {
 public:
  option_reader(words all, std::size_t from) : words_(all), position_(from) {}

  [[nodiscard]] bool is_at_end() const noexcept { return position_ == words_.size(); }
  /// The index of the next word.
  [[nodiscard]] std::size_t position() const noexcept { return position_; }
  /// Whether the next word is this one; if so, consumes it.
  [[nodiscard]] bool takes(std::string_view capitals) noexcept;
  /// @throws refusal  there is no more word
  [[nodiscard]] std::string_view value();
  /// @throws refusal  the next word is no number between these, or there is none
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most);
  [[nodiscard]] words rest() const noexcept { return words_.subspan(position_); }

 private:
  words words_;
  std::size_t position_;
};

/// EVERSEEN.RESERVE key error_rate capacity [WINDOW ms] [SLICES n] [NONSCALING] [SIPHASH | XXH3]
/// @throws refusal
[[nodiscard]] redisbloom::bloom_request parse_reserve(words all);

/// The items of EVERSEEN.ADD or EVERSEEN.CHECK key [TIME ms] ITEMS item...
struct items {
  std::optional<std::int64_t> time_ms{};  ///< since 1970
  std::size_t first = 0;                  ///< index of the first item among the words
};
/// @param all  at least three words    @throws refusal
[[nodiscard]] items parse_items(words all);

/// What items without the word before them get.
[[nodiscard]] refusal lacks_items();

/// A time for a filter that has no window.
inline constexpr std::string_view no_window = "ERR a time is for a filter with a window; leave it out";

}  // namespace everseen::commands
