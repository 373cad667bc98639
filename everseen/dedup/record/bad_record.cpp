#include "everseen/dedup/record/bad_record.hpp"

namespace everseen {

std::string quoted_text(std::string_view text) {
  constexpr std::size_t room = 80;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, room)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f)
      result.append("\\x").append({digits[byte >> 4], digits[byte & 15]});
    else
      result += c;
  }
  return result + (text.size() > room ? "...'" : "'");
}

std::string to_string(const bad_record& bad) {
  std::string text(to_string(bad.why));
  if (!bad.detail.empty() && bad.why != record_fault::unreadable_time) text += ": " + bad.detail;
  const std::string name = (bad.field.starts_with('/') ? "" : "field ") + bad.field;
  if (!bad.field.empty() && bad.value)
    text += ": " + name + " is " + quoted_text(*bad.value);
  else if (!bad.field.empty())
    text += ": there is no " + name;
  if (!is_no_record(bad.why)) text += "; it is " + quoted_text(bad.bytes);
  if (bad.why == record_fault::unreadable_time && !bad.detail.empty()) text += "; " + bad.detail;
  return text;
}

/// A record of CSV may have several lines.
std::string record_place(record_format format, const std::string& input, std::uint64_t before) {
  const std::uint64_t number = before + 1 + (format.header ? 1 : 0);
  return (format.quoted ? "record " : "line ") + std::to_string(number) + " of " + input;
}

bad_record describe(const event_rule& rule, std::string_view record, std::uint64_t position,
                    record_fault why) {
  const auto found = why == record_fault::time_ahead ? rule.time_place() : rule.at_fault();
  bad_record bad{std::string(record), position, why, found.field, {}, {}};
  if (found.value.data() != nullptr) bad.value.emplace(found.value);
  if (why == record_fault::unreadable_time && bad.value) bad.detail = rule.shape().times.advice(*bad.value);
  return bad;
}

}  // namespace everseen
