#pragma once

#include <span>

#include "module/server/api.hpp"

namespace everseen::redis_module {

/// A command of the module, as data: declared to the server at load time, and shown by COMMAND INFO and
/// COMMAND DOCS.
struct described_command {
  const char* name;
  module_api::command_function* run;
  const char* flags;       ///< of create_command
  const char* categories;  ///< ACL categories, on servers that support them for modules
  int arity;               ///< words including the name; negative: the minimum
  int keys;                ///< how many of the words after the name are keys
  const char* summary;
  const char* complexity;
  std::span<const module_api::argument> arguments;

  [[nodiscard]] bool writes() const noexcept { return flags[0] == 'w'; }
};

[[nodiscard]] std::span<const described_command> all_commands() noexcept;

/// Registers the command with the server that loads the module.
[[nodiscard]] bool introduce(module_api::context* ctx, const described_command& c);

}  // namespace everseen::redis_module
