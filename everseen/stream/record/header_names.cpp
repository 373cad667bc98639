#include "everseen/stream/record/header_names.hpp"

#include <algorithm>

#include "everseen/core/base/error.hpp"
#include "everseen/stream/record/field_reader.hpp"

namespace everseen {

std::vector<std::string> header_names(std::string_view line, record_format format, const std::string& input) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto count = static_cast<unsigned>(std::ranges::count(line, format.delimiter)) + 1;
  std::vector<field_rule> all;
  for (unsigned number = 1; number <= count; ++number)
    all.push_back({field_rule::kind::delimited, number, format.delimiter, {}, format.quoted});
  field_reader reader(all);
  const auto values = reader.read(line);
  if (!values)
    throw format_error("the first line of " + input + ' ' + std::string(to_string(values.error())));
  std::vector<std::string> names;
  for (std::string_view name : *values) {
    if (name.data() == nullptr) break;  // delimiters between quotes were counted, too
    const bool has_quotes = !format.quoted && name.size() > 1 && name.front() == '"' && name.back() == '"';
    if (has_quotes) name = name.substr(1, name.size() - 2);
    names.emplace_back(name);
  }
  return names;
}

}  // namespace everseen
