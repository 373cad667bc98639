#include "everseen/cli/verb/field_notation.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

namespace everseen::cli {

namespace {

/// A whole number without a sign, from the front; none: there is no digit, or too many.
std::optional<unsigned> take_number(std::string_view& text) {
  unsigned number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || text.empty() || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// What follows a field's number in a key of sort: the number of a character, and how to compare.
void skip_how_to_sort(std::string_view& text) {
  if (text.starts_with('.')) text.remove_prefix(1), static_cast<void>(take_number(text));
  text.remove_prefix(std::min(text.find_first_not_of("bdfgiMhnRrV"), text.size()));
}

/// The numbers that sort's 1,2  2n  1.3,1.5, cut's 1-3 and awk's $1 mean.
std::vector<std::string> fields_by_number(std::string_view text) {
  constexpr unsigned most_fields = 10;  // more are no key
  if (text.starts_with('$')) text.remove_prefix(1);
  const auto first = take_number(text);
  if (!first || *first == 0) return {};
  skip_how_to_sort(text);
  auto last = first;
  if (text.starts_with(',') || text.starts_with('-')) {
    text.remove_prefix(1);
    last = take_number(text);
    skip_how_to_sort(text);
  }
  if (!text.empty() || !last || *last < *first || *last - *first >= most_fields) return {};
  std::vector<std::string> fields;
  for (unsigned field = *first; field <= *last; ++field) fields.push_back(std::to_string(field));
  return fields;
}

/// Appends a member's name to a JSON pointer.
void append_member(std::string& pointer, std::string_view name) {
  pointer += '/';
  for (const char c : name) {
    if (c == '~')
      pointer += "~0";
    else if (c == '/')
      pointer += "~1";
    else
      pointer += c;
  }
}

/// The JSON pointer that jq's .user.id  .["user"]  .items[0] and JSONPath's $.user.id mean; empty: none.
std::string pointer_of_path(std::string_view path) {
  if (path.starts_with('$')) path.remove_prefix(1);
  if (!path.starts_with('.') && !path.starts_with('[')) return {};
  std::string pointer;
  while (!path.empty()) {
    if (path.starts_with('.')) path.remove_prefix(1);
    if (path.starts_with('[')) {
      const std::size_t end = path.find(']');
      if (end == std::string_view::npos) return {};
      std::string_view inner = path.substr(1, end - 1);
      if (inner.size() > 2 && (inner.front() == '"' || inner.front() == '\'') &&
          inner.back() == inner.front())
        inner = inner.substr(1, inner.size() - 2);
      else if (inner.empty() || inner.find_first_not_of("0123456789") != std::string_view::npos)
        return {};
      append_member(pointer, inner);
      path.remove_prefix(end + 1);
    } else {
      const std::size_t end = std::min(path.find_first_of(".["), path.size());
      const std::string_view name = path.substr(0, end);
      if (name.empty() || name.find_first_of(" |,()?*@\"'$") != std::string_view::npos) return {};
      append_member(pointer, name);
      path.remove_prefix(end);
    }
  }
  return pointer;
}

}  // namespace

std::vector<std::string> fields_meant_by(std::string_view text) {
  if (std::string pointer = pointer_of_path(text); !pointer.empty()) return {std::move(pointer)};
  return fields_by_number(text);
}

}  // namespace everseen::cli
