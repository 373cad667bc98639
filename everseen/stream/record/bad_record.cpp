#include "everseen/stream/record/bad_record.hpp"

namespace everseen {

namespace {

/// The text for a message: truncated, and with control characters escaped for terminals.
std::string shown(std::string_view text) {
  constexpr std::size_t room = 80;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  for (const char c : text.substr(0, room)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f)
      result.append("\\x").append({digits[byte >> 4], digits[byte & 15]});
    else
      result += c;
  }
  return text.size() > room ? result + "..." : result;
}

}  // namespace

std::string to_string(const bad_record& bad) {
  std::string text(to_string(bad.why));
  const std::string name = (bad.field.starts_with('/') ? "" : "field ") + bad.field;
  if (!bad.field.empty() && bad.value)
    text += ": " + name + " is '" + shown(*bad.value) + "'";
  else if (!bad.field.empty())
    text += ": there is no " + name;
  return text + "; it is '" + shown(bad.bytes) + "'";
}

bad_record describe(const event_rule& rule, std::string_view record, std::uint64_t position,
                    record_fault why) {
  const auto at = why == record_fault::time_ahead ? rule.time_place() : rule.at_fault();
  bad_record bad{std::string(record), position, why, at.field, {}};
  if (at.value.data() != nullptr) bad.value.emplace(at.value);
  return bad;
}

}  // namespace everseen
