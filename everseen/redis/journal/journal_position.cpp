#include "everseen/redis/journal/journal_position.hpp"

#include "everseen/core/base/digits.hpp"

namespace everseen::redis {

std::string to_text(const journal_position& p) {
  return std::to_string(p.offset) + ":" + hex_of(p.checksum);
}

std::optional<journal_position> parse_journal_position(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto offset = read_number(text.substr(0, colon));
  const auto checksum = read_number(text.substr(colon + 1), 16);
  if (!offset || !checksum) return std::nullopt;
  const journal_position p{*offset, *checksum};
  return to_text(p) == text ? std::optional(p) : std::nullopt;
}

}  // namespace everseen::redis
