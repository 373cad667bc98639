#pragma once

#include <string_view>

/// Parts of scripts that create keys beside others.
namespace everseen::redis::script_text {

/// `end_like(other, key)`: the key expires when the other one does, or never, like that one.
inline constexpr std::string_view end_like = R"(
local function end_like(other, key)
  local left = redis.call('PTTL', other)
  if left > 0 then redis.call('PEXPIRE', key, string.format('%.0f', left)) else redis.call('PERSIST', key) end
end
)";

}  // namespace everseen::redis::script_text
