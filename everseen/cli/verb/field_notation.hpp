/// Fields in the notations of other programs.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace everseen::cli {

/// The fields, as --key takes them, that a notation of another program means: of sort, cut and awk (1,2  2n
/// 1-3  $1), of jq and JSONPath (.user.id  $.items[0]).
///
/// For messages only: where two programs differ, a person has to decide.    @return none: it is no such
/// notation
[[nodiscard]] std::vector<std::string> fields_meant_by(std::string_view text);

}  // namespace everseen::cli
