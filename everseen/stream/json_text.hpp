#pragma once

#include <string_view>

#include <simdjson.h>
#include <tl/expected.hpp>

#include "everseen/stream/record_rule.hpp"

/// Values of JSON as text, for the .cpp files that parse it.
namespace everseen {

/// A string's unescaped bytes; of every other value its text as it stands. What is given lives until the
/// parser of the value reads its next document. Only the value itself is validated.
[[nodiscard]] tl::expected<std::string_view, record_fault> json_text(simdjson::ondemand::value value);

/// Whether that is what was given for a null, and not for the word "null".
[[nodiscard]] bool is_json_null(std::string_view given) noexcept;

/// What a record that the parser refused is told.
[[nodiscard]] record_fault json_fault(simdjson::error_code code, std::string_view record) noexcept;

/// true, false or null
[[nodiscard]] bool is_json_literal(std::string_view text) noexcept;

}  // namespace everseen
