#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "everseen/server/base/command.hpp"
#include "everseen/server/base/numbers.hpp"

namespace everseen::server {

/// The longest time that a client may give, in milliseconds.
inline constexpr std::int64_t longest_ms = std::int64_t{36'500} * 24 * 60 * 60 * 1000;

/// The words after a command's fixed ones, read from left to right. Threads: one.
class option_reader {
 public:
  option_reader(word_list all, std::size_t from) : words_(all), at_(from) {}

  [[nodiscard]] bool is_at_end() const noexcept { return at_ == words_.size(); }
  /// Whether the next word is this one; if so, consumes it.
  [[nodiscard]] bool takes(std::string_view capitals) noexcept {
    if (is_at_end() || !is_word(words_[at_], capitals)) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] std::string_view value() {
    if (is_at_end()) throw syntax_error();
    return words_[at_++];
  }
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) {
    const std::string_view word = value();
    const auto number = read_integer(word);
    if (!number || *number < least || *number > most)
      throw refusal{"ERR '" + std::string(word.substr(0, 64)) + "' is not a whole number from " +
                    std::to_string(least) + " to " + std::to_string(most)};
    return *number;
  }
  [[nodiscard]] word_list rest() const noexcept { return words_.subspan(at_); }

 private:
  word_list words_;
  std::size_t at_;
};

}  // namespace everseen::server
