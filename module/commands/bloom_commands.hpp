#pragma once

#include <span>

#include "module/commands/command_table.hpp"

namespace everseen::redis_module {

/// BF.*: the commands of RedisBloom, on filters that are values of keys.
[[nodiscard]] std::span<const described_command> bloom_commands() noexcept;

}  // namespace everseen::redis_module
