#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/service/batch_sessions.hpp"

namespace everseen::serve {

/// The arguments of EVERSEEN.ADD and EVERSEEN.CHECK.
struct asked_keys {
  std::vector<event_time> times{};  ///< none, one for all keys, or one a key
  std::string_view fingerprint{};   ///< that the filter must have; empty: any
  std::string_view session{};       ///< of batches; empty: none
  std::uint64_t number = 0;         ///< of the batch in its session
  bool in_digits = false;           ///< the reply is a string with a digit for each key; so in a session
  word_list keys{};
};

/// @throws refusal  the arguments are not as the commands are described
[[nodiscard]] asked_keys parse_asked_keys(word_list words);

/// The refusal of a request of which nothing was run, as the store is unavailable. A client of everseen sends
/// the request again, for as long as it waits through outages.
[[nodiscard]] inline batch_sessions::not_begun not_begun_as(std::string_view why) {
  return {{"BUSY nothing was run, as the store is unavailable: " + std::string(why)}};
}

/// Runs what changes nothing.    @throws batch_sessions::not_begun  the store is unavailable
template <typename Work>
auto run_reading(Work work) {
  try {
    return work();
  } catch (const backend_error& why) {
    throw not_begun_as(why.what());
  }
}

/// The longest time that a client may give, in milliseconds.
inline constexpr std::int64_t longest_ms = std::int64_t{36'500} * 24 * 60 * 60 * 1000;

/// The words after a command's fixed ones, read from left to right. Threads: one.
class option_reader {
 public:
  option_reader(word_list all, std::size_t from) : words_(all), position_(from) {}

  [[nodiscard]] bool is_at_end() const noexcept { return position_ == words_.size(); }
  /// Whether the next word is this one; if so, consumes it.
  [[nodiscard]] bool takes(std::string_view capitals) noexcept {
    if (is_at_end() || !is_word(words_[position_], capitals)) return false;
    ++position_;
    return true;
  }
  [[nodiscard]] std::string_view value() {
    if (is_at_end()) throw syntax_error();
    return words_[position_++];
  }
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) {
    const std::string_view word = value();
    const auto number = read_integer(word);
    if (!number || *number < least || *number > most)
      throw refusal{"ERR '" + std::string(word.substr(0, 64)) + "' is not a whole number from " +
                    std::to_string(least) + " to " + std::to_string(most)};
    return *number;
  }
  [[nodiscard]] word_list rest() const noexcept { return words_.subspan(position_); }

 private:
  word_list words_;
  std::size_t position_;
};

}  // namespace everseen::serve
