#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/spec/spec.hpp"

/// The words of BF.RESERVE and BF.INSERT, as RedisBloom 8 reads them. Source: its commands' reference pages.
namespace everseen::redisbloom {

using bloom_words = std::span<const std::string_view>;

/// Why a request was refused, in the words of RedisBloom, which its clients compare.
struct bloom_refusal {
  std::string text;  ///< as in "ERR bad capacity"; empty: too few or too many words
};

/// A filter that a request asks for.
struct bloom_request {
  spec_request spec{};
  std::optional<std::uint32_t> expansion{};  ///< between the capacities of layers, if the request has one
};

/// The defaults of a new filter: 100 keys at 0.01, growing.
[[nodiscard]] bloom_request default_bloom_request();

/// BF.RESERVE key error_rate capacity [EXPANSION n] [NONSCALING]; other words are ignored, as RedisBloom
/// does. EXPANSION 0 asks for a filter that does not grow.
/// @param words  all, the command's name first    @throws bloom_refusal
[[nodiscard]] bloom_request parse_reserve(bloom_words words);

/// BF.INSERT key [CAPACITY n] [ERROR rate] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item...
/// The words may be abbreviated: CAP, ERR, I.
struct bloom_insert {
  bloom_request create = default_bloom_request();
  bool may_create = true;
  std::size_t first_item = 0;  ///< index of the first item
};
/// @param words  all, the command's name first    @throws bloom_refusal
[[nodiscard]] bloom_insert parse_insert(bloom_words words, const bloom_request& unless_given);

/// An error rate as clients of RedisBloom give it. Above 0.25 it counts as 0.25, as in RedisBloom 8.
/// @return empty  not a number between 0 and 1    @throws bloom_refusal  lower than any filter supports
[[nodiscard]] std::optional<double> read_error_rate(std::string_view word);

}  // namespace everseen::redisbloom
