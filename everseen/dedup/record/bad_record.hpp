#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/dedup/record/event_rule.hpp"
#include "everseen/dedup/record/record_format.hpp"

namespace everseen {

/// A record that an event_rule refused, or whose key or time cannot be used.
struct bad_record {
  std::string bytes;
  std::uint64_t position = 0;
  record_fault why = record_fault::no_key;
  std::string field{};                 ///< the field at fault, as in /id or 3; empty: the whole record
  std::optional<std::string> value{};  ///< of that field; nothing if the record has none
  std::string detail{};                ///< more about the fault, if there is something to say
};

/// @param rule  has just read the record
[[nodiscard]] bad_record describe(const event_rule& rule, std::string_view record, std::uint64_t position,
                                  record_fault why);

/// The number of a record in its input, as in "line 5 of access.csv".    @param before  records before it
[[nodiscard]] std::string record_place(record_format format, const std::string& input, std::uint64_t before);

/// A text in a message, between quotation marks: truncated, and with control characters escaped for
/// terminals.
[[nodiscard]] std::string quoted_text(std::string_view text);

/// What is wrong with it, as in: has no key: there is no /id; it is '{"x":1}'. Long texts are truncated.
[[nodiscard]] std::string to_string(const bad_record& bad);

}  // namespace everseen
