#pragma once

#include <optional>
#include <string>
#include <string_view>

/// The file names of filters and jobs in a file store: doc/format.md, "Names of files".
namespace everseen::file_names {

/// The file name of a name; no two names share one. It has no slash, does not begin with a dot and does not
/// end with ".new".
[[nodiscard]] std::string of(std::string_view name);

/// The name that a file name spells.
/// @return nothing if of() never returns this file name, or if it is a hash
[[nodiscard]] std::optional<std::string> spelled(std::string_view file_name);

/// Whether it has the form of a hash, so that the name must be stored elsewhere.
[[nodiscard]] bool is_hash(std::string_view file_name) noexcept;

}  // namespace everseen::file_names
