#include "everseen/redis/journal/journal_position.hpp"

#include <array>
#include <charconv>

namespace everseen::redis {

std::string to_text(const journal_position& p) {
  std::string text = std::to_string(p.offset) + ":";
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[p.checksum >> shift & 15];
  return text;
}

std::optional<journal_position> parse_journal_position(std::string_view text) {
  journal_position p;
  const char* const end = text.data() + text.size();
  const auto offset = std::from_chars(text.data(), end, p.offset);
  if (offset.ec != std::errc{} || offset.ptr == end || *offset.ptr != ':') return std::nullopt;
  const auto sum = std::from_chars(offset.ptr + 1, end, p.checksum, 16);
  if (sum.ec != std::errc{} || sum.ptr != end || to_text(p) != text) return std::nullopt;
  return p;
}

}  // namespace everseen::redis
