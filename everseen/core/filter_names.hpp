#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "everseen/core/image.hpp"

/// How the keys are named by which a filter in Redis is found: doc/format.md, "Names". Clients and the Redis
/// module agree on it here; what lies beside a partition's state, partition_keys.hpp has.
///
/// The part in braces is the hash tag: all keys of one partition lie in one cluster slot, so that one script
/// may touch them all.
namespace everseen::filter_names {

/// 32 hexadecimal digits.
[[nodiscard]] inline std::string to_text(const image::filter_id& id) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : id) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// Hash of the filters' names, each with its id. No filter's header has such a name.
[[nodiscard]] inline std::string index(const std::string& prefix) {
  return prefix + ":{names}";
}
/// Hash of the links, by the name of the filter that asks another one first.
[[nodiscard]] inline std::string links(const std::string& prefix) {
  return index(prefix) + ":links";
}

/// @param id  to_text()
[[nodiscard]] inline std::string header(const std::string& prefix, const std::string& id) {
  return prefix + ":{" + id + "}";
}
/// What a partition remembers beside bits and journal.    @param id  to_text()
[[nodiscard]] inline std::string state(const std::string& prefix, const std::string& id,
                                       std::uint32_t partition) {
  return prefix + ":{" + id + "/" + std::to_string(partition) + "}";
}

}  // namespace everseen::filter_names
