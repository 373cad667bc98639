#include "module/server/settings.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string_view>
#include <vector>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
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

namespace api = module_api;

bool repeats_a_decision(api::context* ctx) noexcept {
  const int decided_elsewhere = ctx == nullptr ? api::flag_replica : api::flag_replicated;
  return (api::get_context_flags(ctx) & (decided_elsewhere | api::flag_loading)) != 0;
}

std::uint64_t bytes_left(api::context* ctx) {
  constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  api::server_info* const info = api::get_server_info(ctx, "memory");
  int failed = 0;
  const std::uint64_t most = api::server_info_field(info, "maxmemory", &failed);
  // With a policy that evicts, the server makes room before its next command.
  const bool evicts = (api::get_context_flags(ctx) & api::flag_evicts) != 0;
  const std::uint64_t used = evicts ? 0 : api::server_info_field(info, "used_memory", &failed);
  api::free_server_info(ctx, info);
  return most == 0 || failed != 0 ? all : most - std::min(most, used);
}

void must_fit(api::context* ctx, std::uint64_t bytes, std::uint64_t more) {
  if (repeats_a_decision(ctx)) return;
  if (bytes > settings().most_bytes)
    throw full_error("the filter would be larger than this server's MAX_SIZE allows; no key was added");
  if (more > 0 && more > bytes_left(ctx))
    throw full_error("the filter needs more memory than the server's maxmemory leaves; no key was added",
                     ENOMEM);
}

}  // namespace everseen::redis_module
