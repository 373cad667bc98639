#pragma once

#include <optional>
#include <string_view>

#include <simdjson.h>

#include "everseen/dedup/record/field_rule.hpp"

/// Values of JSON as text, for the .cpp files that parse it.
namespace everseen {

/// A string's unescaped bytes; the unchanged text of every other value. The result is valid until the
/// value's parser reads its next document. Only the value itself is validated.
/// @return nothing  it is not JSON
[[nodiscard]] std::optional<std::string_view> json_text(simdjson::ondemand::value value);

/// Whether json_text() returned this for a null, and not for the string "null".
[[nodiscard]] bool is_json_null(std::string_view given) noexcept;

/// Whether a document that is neither an object nor an array is JSON.
[[nodiscard]] bool is_json_scalar(simdjson::ondemand::document& document, std::string_view record);

/// Whether nothing follows what was read of a document.
[[nodiscard]] bool is_json_end(simdjson::ondemand::document& document) noexcept;

/// The fault of a record that the parser refused.
[[nodiscard]] record_fault json_fault(simdjson::error_code code, std::string_view record) noexcept;

/// true, false or null
[[nodiscard]] bool is_json_literal(std::string_view text) noexcept;

}  // namespace everseen
