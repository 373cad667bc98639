#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "everseen/cli/verb/option_set.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/report/fleet.hpp"

namespace everseen::cli {

/// The part of `everseen plan` about stores: what the verbs would make there, and the servers for a stream.
struct store_options {
  std::optional<std::string> store{};  ///< redis, or a URL
  std::optional<std::chrono::milliseconds> timeout{};
  std::optional<std::string> constants{};  ///< a file
  fleet_request asked{};                   ///< the verb fills in keys and error rate
};

/// @param target  must outlive the parsing of the command line
void declare_store_options(option_set& known, store_options& target);
/// @throws parameter_error  an option needs another one that is not given
void must_agree(const store_options& given);
/// @pre  given.store    @throws parameter_error  the numbers fit no filter    @throws  as store::plan
exit_code plan_on_store(const store_options& given, bool as_json, printer& out);

}  // namespace everseen::cli
