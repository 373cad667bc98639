#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/stream/record/event_rule.hpp"

namespace everseen {

/// A record that an event_rule refused, or whose key or time is of no use.
struct bad_record {
  std::string bytes;
  std::uint64_t position = 0;
  record_fault why = record_fault::no_key;
  std::string field{};                 ///< the field at fault, as in /id or 3; empty: the whole record
  std::optional<std::string> value{};  ///< of that field; nothing if the record has none
};

/// @param rule  has just read the record
[[nodiscard]] bad_record describe(const event_rule& rule, std::string_view record, std::uint64_t position,
                                  record_fault why);

/// What is wrong with it, as in: has no key: there is no /id; it is '{"x":1}'. Long texts are truncated.
[[nodiscard]] std::string to_string(const bad_record& bad);

}  // namespace everseen
