#include "everseen/serve/commands/glob.hpp"

#include <algorithm>
#include <cstddef>

namespace everseen::serve {

namespace {

struct step {
  bool fits = false;
  std::size_t bytes = 1;  // of the pattern
};

/// [abc], [^a-z]; an unclosed class ends with the pattern.
step match_class(std::string_view pattern, char c) noexcept {
  std::size_t i = 1;
  const bool inverted = i < pattern.size() && pattern[i] == '^';
  if (inverted) ++i;
  bool found = false;
  for (; i < pattern.size() && pattern[i] != ']'; ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      found |= pattern[++i] == c;
    } else if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      const auto [low, high] = std::minmax(pattern[i], pattern[i + 2]);
      found |= c >= low && c <= high;
      i += 2;
    } else {
      found |= pattern[i] == c;
    }
  }
  return {found != inverted, std::min(i + 1, pattern.size())};
}

step match_one(std::string_view pattern, char c) noexcept {
  switch (pattern.front()) {
    case '?':
      return {true, 1};
    case '[':
      return match_class(pattern, c);
    case '\\':
      if (pattern.size() > 1) return {pattern[1] == c, 2};
      [[fallthrough]];
    default:
      return {pattern.front() == c, 1};
  }
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) noexcept {
  // Only the last star needs to be retried with one more byte.
  std::string_view pattern_behind_star, text_at_star;
  bool has_star = false;
  for (;;) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      pattern_behind_star = pattern;
      text_at_star = text;
      has_star = true;
      continue;
    }
    if (text.empty()) return pattern.empty();
    if (!pattern.empty()) {
      const step s = match_one(pattern, text.front());
      if (s.fits) {
        pattern.remove_prefix(s.bytes);
        text.remove_prefix(1);
        continue;
      }
    }
    if (!has_star) return false;
    text_at_star.remove_prefix(1);
    text = text_at_star;
    pattern = pattern_behind_star;
  }
}

}  // namespace everseen::serve
