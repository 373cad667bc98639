#pragma once

#include "everseen/core/redisbloom/bloom_request.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/registry/filter_registry.hpp"

/// The requests of RedisBloom's clients as requests of the registry.
namespace everseen::serve {

/// The defaults of a new filter: 100 keys at 0.01, growing.
[[nodiscard]] filter_registry::request default_request();

/// BF.RESERVE: redisbloom::parse_reserve.    @throws refusal
[[nodiscard]] filter_registry::request parse_reserve(word_list w);

/// EVERSEEN.RESERVE: commands::parse_reserve.    @throws refusal
[[nodiscard]] filter_registry::request parse_own_reserve(word_list w);

/// BF.INSERT: redisbloom::parse_insert.
struct insert_request {
  filter_registry::request create{};
  bool may_create = true;
  word_list keys{};
};
/// @throws refusal
[[nodiscard]] insert_request parse_insert(word_list w);

}  // namespace everseen::serve
