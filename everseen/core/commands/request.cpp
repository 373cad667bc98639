#include "everseen/core/commands/request.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include "everseen/core/base/digits.hpp"

namespace everseen::commands {

namespace {

constexpr std::size_t fixed_words_of_reserve = 4;
constexpr std::size_t longest_shown = 64;

refusal not_an_option() {
  std::string hashes;
  for (const hash_facts& f : all_hashes)
    if (f.may_be_asked()) hashes = f.word + (hashes.empty() ? "" : " or " + hashes);
  return {"ERR syntax error: the options are WINDOW ms, SLICES n, NONSCALING, and " + hashes};
}

std::optional<hash_kind> hash_word(option_reader& options) {
  for (const hash_facts& f : all_hashes)
    if (f.may_be_asked() && options.takes(f.word)) return f.kind;
  return std::nullopt;
}

}  // namespace

bool option_reader::takes(std::string_view capitals) noexcept {
  if (is_at_end() || !is_word(words_[position_], capitals)) return false;
  ++position_;
  return true;
}

std::string_view option_reader::value() {
  if (is_at_end()) throw refusal{"ERR syntax error: a word has no value"};
  return words_[position_++];
}

std::int64_t option_reader::integer(std::int64_t least, std::int64_t most) {
  const std::string_view word = value();
  const auto number = read_number<std::int64_t>(word);
  if (!number || *number < least || *number > most)
    throw refusal{"ERR '" + std::string(word.substr(0, longest_shown)) + "' is not a whole number from " +
                  std::to_string(least) + " to " + std::to_string(most)};
  return *number;
}

redisbloom::bloom_request parse_reserve(words all) {
  redisbloom::bloom_request r =
      redisbloom::parse_reserve(all.first(std::min(all.size(), fixed_words_of_reserve)));
  option_reader options(all, fixed_words_of_reserve);
  std::optional<std::int64_t> window;
  std::optional<std::int64_t> slices;
  while (!options.is_at_end()) {
    if (options.takes("WINDOW"))
      window = options.integer(1, longest_ms);
    else if (options.takes("SLICES"))
      slices = options.integer(1, max_slices);
    else if (options.takes("NONSCALING"))
      r.spec.growth = growth_kind::refuse;
    else if (r.spec.hash || !(r.spec.hash = hash_word(options)))
      throw not_an_option();
  }
  if (slices && !window) throw refusal{"ERR SLICES is for a filter with a WINDOW"};
  if (window)
    r.spec.window = window_spec{std::chrono::milliseconds(*window),
                                static_cast<std::uint32_t>(slices.value_or(default_slices))};
  return r;
}

items parse_items(words all) {
  using limits = std::numeric_limits<std::int64_t>;
  option_reader options(all, 2);
  items read;
  if (options.takes("TIME")) read.time_ms = options.integer(limits::min(), limits::max());
  if (!options.takes("ITEMS")) throw lacks_items();
  if (options.is_at_end()) throw refusal{};
  read.first = options.position();
  return read;
}

refusal lacks_items() {
  return {"ERR syntax error: the items follow the word ITEMS"};
}

}  // namespace everseen::commands
