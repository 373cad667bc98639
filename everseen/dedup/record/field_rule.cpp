#include "everseen/dedup/record/field_rule.hpp"

#include <algorithm>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/record/field_reader.hpp"

namespace everseen {

void validate(const field_rule& rule) {
  if (rule.form == field_rule::kind::delimited && rule.number == 0)
    throw parameter_error("there is no field 0; fields are counted from 1");
  if (rule.form != field_rule::kind::json) return;
  bool good = rule.pointer.starts_with('/');
  for (std::size_t position = 0; (position = rule.pointer.find('~', position)) != std::string::npos;
       ++position)
    good = good && position + 1 < rule.pointer.size() &&
           (rule.pointer[position + 1] == '0' || rule.pointer[position + 1] == '1');
  if (!good)
    throw parameter_error(
        "'" + rule.pointer +
        "' is not a JSON pointer; it begins with a slash, as in /user/id, and ~ is written ~0");
}

std::string_view to_string(record_fault fault) noexcept {
  switch (fault) {
    case record_fault::not_json:
      return "is not JSON";
    case record_fault::part_of_json:
      return "is only the beginning of a JSON value, and each line must be a whole one (jq -c . puts each on "
             "one line)";
    case record_fault::half_surrogate:
      return "has half of a surrogate pair in a JSON string, which is no character";
    case record_fault::not_utf8:
      return "is not UTF-8, as JSON must be";
    case record_fault::byte_order_mark:
      return "begins with a byte order mark, which JSON must not (sed '1s/^\\xef\\xbb\\xbf//' removes it)";
    case record_fault::bad_quotes:
      return "has a quotation mark that CSV does not allow there (a field with one is quoted, and has it "
             "twice)";
    case record_fault::no_key:
      return "has no key";
    case record_fault::null_key:
      return "has null for a key";
    case record_fault::no_time:
      return "has no time";
    case record_fault::unreadable_time:
      return "has a time that cannot be read";
    case record_fault::time_ahead:
      return "has a time too far ahead of the clock (see --max-ahead)";
    case record_fault::unfit_key:
      return "has a key that the filter cannot take";
    case record_fault::long_value:
      return "has a value of more than 1024 bytes to be counted by";
    case record_fault::no_value:
      return "has no value (in Kafka, null: a tombstone)";
    case record_fault::separator_inside:
      return "has the byte inside that ends a record of the output (--zero ends records with a zero byte "
             "instead of a line end)";
    case record_fault::blank:
      return "is blank";
    case record_fault::header_again:
      return "is the line that names the fields, once more";
  }
  return "has no key";
}

std::vector<std::string> header_names(std::string_view line, const record_format& format,
                                      const std::string& input) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  unsigned count = 1;
  for (std::string_view rest = line; format.delimiter.find_in(rest) != std::string_view::npos; ++count)
    rest.remove_prefix(format.delimiter.find_in(rest) + format.delimiter.size());
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
