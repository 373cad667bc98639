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
  /// How many of the words after the name are keys; -1: all, of which only the first is changed.
  int keys;
  const char* summary;
  const char* complexity;
  std::span<const module_api::argument> arguments;

  [[nodiscard]] bool writes() const noexcept { return flags[0] == 'w'; }
};

// Words of a command.
[[nodiscard]] constexpr module_api::argument key_argument(const char* name, int number = 0, int flags = 0) {
  return {.name = name, .type = module_api::argument_key, .key_spec_index = number, .flags = flags};
}
[[nodiscard]] constexpr module_api::argument text_argument(const char* name, int flags = 0,
                                                           const char* token = nullptr) {
  return {
      .name = name, .type = module_api::argument_text, .key_spec_index = -1, .token = token, .flags = flags};
}
[[nodiscard]] constexpr module_api::argument number_argument(const char* name, int flags = 0,
                                                             const char* token = nullptr) {
  return {.name = name,
          .type = module_api::argument_integer,
          .key_spec_index = -1,
          .token = token,
          .flags = flags};
}
/// A word that may be there or not.
[[nodiscard]] constexpr module_api::argument switch_argument(const char* name, const char* token) {
  return {.name = name,
          .type = module_api::argument_token,
          .key_spec_index = -1,
          .token = token,
          .flags = module_api::argument_optional};
}

[[nodiscard]] std::span<const described_command> all_commands() noexcept;

/// Registers the command with the server that loads the module.
/// @param own_category  of ACLs, which servers from Redis 7.4 on get with it
[[nodiscard]] bool introduce(module_api::context* ctx, const described_command& c,
                             const char* own_category = nullptr);

}  // namespace everseen::redis_module
