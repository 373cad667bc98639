#pragma once

#include "everseen/server/base/command.hpp"
#include "everseen/server/registry/filter_registry.hpp"

/// Parses the words of BF.RESERVE and BF.INSERT, and refuses invalid ones.
namespace everseen::server {

/// The defaults of a new filter: 100 keys at 0.01, growing.
[[nodiscard]] spec_request default_request();

/// BF.RESERVE key error_rate capacity [EXPANSION n] [NONSCALING]; other words are ignored, as RedisBloom does
/// @throws refusal  in the words of RedisBloom
[[nodiscard]] filter_registry::request parse_reserve(word_list w);

/// BF.INSERT key [CAPACITY n] [ERROR rate] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item...
/// The words may be abbreviated: CAP, ERR, I.
struct insert_request {
  filter_registry::request create{};
  bool may_create = true;
  word_list keys{};
};
/// @throws refusal  in the words of RedisBloom
[[nodiscard]] insert_request parse_insert(word_list w);

/// An error rate as clients of RedisBloom give it. Above 0.25 it counts as 0.25, as in RedisBloom 8.
/// @return empty  not a number between 0 and 1    @throws refusal  lower than any filter supports
[[nodiscard]] std::optional<double> read_error_rate(std::string_view word);

}  // namespace everseen::server
