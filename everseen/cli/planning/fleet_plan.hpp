#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "everseen/cli/verb/option_set.hpp"
#include "everseen/cli/verb/verb.hpp"
#include "everseen/core/spec/spec.hpp"

/// The part of `everseen plan` about servers.
namespace everseen::cli {

struct fleet_options {
  std::optional<std::string> store;
  std::optional<std::uint64_t> per_second;
  std::optional<double> fresh_share;
  std::optional<std::uint64_t> clients;
  std::optional<std::uint64_t> server_bytes;
  std::optional<std::uint64_t> client_bytes;
  std::optional<judge_kind> judge;
  bool module = false;
  std::optional<std::string> constants;
  std::optional<std::chrono::milliseconds> timeout;
};

/// Options shared with the rest of the verb.
struct fleet_question {
  std::optional<std::uint64_t> keys;
  std::optional<double> error_rate;
  bool json = false;
};

/// @param target  must outlive the parsing of the command line
void declare_fleet(option_set& known, fleet_options& target);

/// Whether the servers for a stream are asked for: --store redis and --per-second.
/// @throws parameter_error  options that need one of them, without it
[[nodiscard]] bool is_about_a_stream(const fleet_options& given);

exit_code plan_servers(const fleet_options& given, const fleet_question& question, printer& out);

}  // namespace everseen::cli
