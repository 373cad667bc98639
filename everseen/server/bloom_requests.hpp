#pragma once

#include "everseen/server/command.hpp"
#include "everseen/server/filter_shelf.hpp"

/// How the words of BF.RESERVE and BF.INSERT are understood, and what is answered to those that are not.
namespace everseen::server {

/// What a filter is made with when a client says nothing: 100 keys at 0.01, growing.
[[nodiscard]] spec_request default_request();

/// BF.RESERVE key error_rate capacity [EXPANSION n] [NONSCALING]
/// @throws refusal  in the words of RedisBloom
[[nodiscard]] filter_shelf::request parse_reserve(word_list w);

/// BF.INSERT key [CAPACITY n] [ERROR rate] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item...
struct insert_request {
  filter_shelf::request create{};
  bool may_create = true;
  word_list keys{};
};
/// @throws refusal  in the words of RedisBloom
[[nodiscard]] insert_request parse_insert(word_list w);

/// An error rate as clients give it. Above 0.5 it is taken for that: no filter errs more.
/// @return empty  no number between 0 and 1    @throws refusal  lower than any filter keeps
[[nodiscard]] std::optional<double> read_error_rate(std::string_view word);

}  // namespace everseen::server
