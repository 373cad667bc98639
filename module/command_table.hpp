#pragma once

#include <span>

#include "module/api.hpp"

namespace everseen::redis_module {

/// A command of the module, as data: what the server is told when the module is loaded, and shows by COMMAND
/// INFO and COMMAND DOCS.
struct described_command {
  const char* name;
  module_api::command_function* run;
  const char* flags;       ///< of create_command
  const char* categories;  ///< of ACLs, where the server lets a module say
  int arity;               ///< words with the name; negative: at least so many
  int keys;                ///< how many of the words behind the name are keys
  const char* summary;
  const char* complexity;
  std::span<const module_api::argument> arguments;

  [[nodiscard]] bool writes() const noexcept { return flags[0] == 'w'; }
};

[[nodiscard]] std::span<const described_command> all_commands() noexcept;

/// Makes the command known to the server that loads the module.
[[nodiscard]] bool introduce(module_api::context* ctx, const described_command& c);

}  // namespace everseen::redis_module
