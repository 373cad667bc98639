#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/base/quantity.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::serve {

/// Decodes a path or query, whose bytes may be written as %41.
/// @param plus_is_blank  as in queries
/// @throws http_problem  a % without two hexadecimal digits
[[nodiscard]] std::string decoded_address(std::string_view text, bool plus_is_blank);

/// The parameters of a query, each read by its type. Unread parameters are refused: the client meant them to
/// have an effect.
class query_parameters {
 public:
  /// @throws http_problem  a parameter is given twice, or as decoded_address
  explicit query_parameters(std::string_view query);

  [[nodiscard]] std::optional<std::string> text(std::string_view name);
  /// @throws http_problem  not a whole number from `least` to `most`
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name, std::int64_t least,
                                                    std::int64_t most);
  /// As on the command line: 1000000, 1e6, 10M.    @throws parameter_error
  [[nodiscard]] std::optional<std::uint64_t> count(std::string_view name, count_bounds within);
  /// As on the command line: 0.01, 1e-6, 1%.    @throws parameter_error
  [[nodiscard]] std::optional<double> rate(std::string_view name, rate_bounds within);
  /// @throws http_problem  not a number above 0
  [[nodiscard]] std::optional<double> positive(std::string_view name);

  /// Call it before any is read if missing parameters are refused: such a parameter may have been mistyped.
  /// @throws http_problem  there are other parameters
  void must_be_among(std::initializer_list<std::string_view> names);
  /// Call it after all known parameters were read.
  /// @throws http_problem  some are left; suggests the closest name
  void must_be_all_taken() const;

 private:
  [[noreturn]] void refuse_unknown(const std::string& name) const;

  std::map<std::string, std::string, std::less<>> left_{};
  std::map<std::string, bool, std::less<>> known_{};
};

}  // namespace everseen::serve
