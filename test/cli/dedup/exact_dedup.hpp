#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace everseen::test {

/// The records of a text, without their separators; the last one may lack its separator.
inline std::vector<std::string_view> records_of(std::string_view text, char separator = '\n') {
  std::vector<std::string_view> records;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    records.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return records;
}

/// The exact output of `everseen dedup`, computed with a set.
/// @param key_of  the part of a record that is compared
template <typename KeyOf>
std::string first_occurrences(std::string_view text, KeyOf key_of) {
  std::unordered_set<std::string_view> seen;
  std::string first;
  for (const std::string_view record : records_of(text))
    if (seen.insert(key_of(record)).second) first.append(record) += '\n';
  return first;
}

inline std::string first_occurrences(std::string_view text) {
  return first_occurrences(text, [](std::string_view record) { return record; });
}

}  // namespace everseen::test
