#include "module/server/settings.hpp"

#include <string_view>
#include <vector>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/quantity.hpp"

#include "module/server/values.hpp"

namespace everseen::redis_module {

namespace {

module_settings in_effect;

/// The words of BF.RESERVE that ask for a filter of the same options, so that one parser has the rules.
module_settings parse(std::span<api::string*> words) {
  std::string rate = "0.01", capacity = "100", expansion = "2";
  module_settings read;
  if (words.size() % 2 != 0) throw redisbloom::bloom_refusal{"a word without its value"};
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string_view name = text_of(words[i]), value = text_of(words[i + 1]);
    const auto [size, fault] = read_quantity(quantity::redis_bytes, value);
    if (is_word(name, "ERROR_RATE"))
      rate = value;
    else if (is_word(name, "INITIAL_SIZE"))
      capacity = value;
    else if (is_word(name, "EXPANSION"))
      expansion = value;
    else if (is_word(name, "LAYOUT") && (is_word(value, "REDISBLOOM") || is_word(value, "EVERSEEN")))
      read.redisbloom_layout = is_word(value, "REDISBLOOM");
    else if (is_word(name, "MAX_SIZE") && fault == quantity_fault::none)
      read.most_bytes = size == 0 ? no_maximum : size;
    else
      throw redisbloom::bloom_refusal{"unknown: " + std::string(name) + ' ' + std::string(value)};
  }
  const std::vector<std::string_view> reserve = {"BF.RESERVE", "", rate, capacity, "EXPANSION", expansion};
  read.create = redisbloom::parse_reserve(reserve);
  return read;
}

}  // namespace

const module_settings& settings() noexcept {
  return in_effect;
}

std::string read_settings(std::span<api::string*> words) {
  try {
    in_effect = parse(words);
    return {};
  } catch (const redisbloom::bloom_refusal& why) {
    return why.text;
  }
}

}  // namespace everseen::redis_module
