#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/format/image.hpp"

/// Names of the Redis keys through which a filter is found: doc/format.md, "Names". Shared by clients and the
/// Redis module. For the keys next to a partition's state, see partition_keys.hpp.
///
/// The part in braces is the hash tag. It puts all keys of one partition into one cluster slot, so that one
/// script may access them all.
namespace everseen::filter_names {

/// 32 hexadecimal digits.
[[nodiscard]] inline std::string to_text(const image::filter_id& id) {
  return hex_of(id);
}

[[nodiscard]] inline std::optional<image::filter_id> parse_id(std::string_view digits) {
  image::filter_id id;
  if (digits.size() != 2 * id.size()) return std::nullopt;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const auto byte = read_number<std::uint8_t>(digits.substr(2 * i, 2), 16);
    if (!byte) return std::nullopt;
    id[i] = *byte;
  }
  return id;
}

/// Hash from the filters' names to their ids. No filter header has this name.
[[nodiscard]] inline std::string index(const std::string& prefix) {
  return prefix + ":{names}";
}
/// Hash of the links, keyed by the filter that asks another one first.
[[nodiscard]] inline std::string links(const std::string& prefix) {
  return index(prefix) + ":links";
}

/// @param id  to_text()
[[nodiscard]] inline std::string header(const std::string& prefix, const std::string& id) {
  return prefix + ":{" + id + "}";
}
/// The state of a partition, besides bits and journal.    @param id  to_text()
[[nodiscard]] inline std::string state(const std::string& prefix, const std::string& id,
                                       std::uint32_t partition) {
  return prefix + ":{" + id + "/" + std::to_string(partition) + "}";
}

}  // namespace everseen::filter_names
