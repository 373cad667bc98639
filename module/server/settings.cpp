#include "module/server/settings.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <limits>
#include <new>
#include <string_view>
#include <vector>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/quantity.hpp"

#include "module/server/values.hpp"

namespace everseen::redis_module {

namespace api = module_api;

namespace {

constexpr long long most_initial_size = 1LL << 30;  // as RedisBloom's
constexpr long long most_expansion = 32'768;

/// As they are given, so that BF.RESERVE's parser has the rules.
struct given_settings {
  std::string rate = "0.01";
  long long capacity = 100;
  long long expansion = 2;
  bool redisbloom_layout = false;
  long long most_bytes = 0;  // no maximum
};

struct {
  given_settings given;
  module_settings parsed;
} in_effect;

/// @throws refusal
module_settings parse(const given_settings& given) {
  const std::string capacity = std::to_string(given.capacity), expansion = std::to_string(given.expansion);
  const std::vector<std::string_view> reserve = {"BF.RESERVE", "",          given.rate,
                                                 capacity,     "EXPANSION", expansion};
  return {redisbloom::parse_reserve(reserve), given.redisbloom_layout,
          given.most_bytes == 0 ? no_maximum : static_cast<std::uint64_t>(given.most_bytes)};
}

/// Only as a whole: what is refused changes nothing.    @return why; empty: it was not refused
std::string take(const given_settings& given) {
  try {
    in_effect.parsed = parse(given);
    in_effect.given = given;
    return {};
  } catch (const redisbloom::bloom_refusal& why) {
    return why.text;
  }
}

/// RedisBloom's cuckoo filters are not this module's; who replaces RedisBloom may leave their words.
bool is_of_another_type(std::string_view name) {
  constexpr std::array of_cuckoo_filters = {"CF_BUCKET_SIZE", "CF_INITIAL_SIZE", "CF_MAX_ITERATIONS",
                                            "CF_EXPANSION_FACTOR", "CF_MAX_EXPANSIONS"};
  return std::ranges::any_of(of_cuckoo_filters, [&](const char* each) { return is_word(name, each); });
}

/// @return whether it is a word with a fitting value
bool read_word(given_settings& given, std::string_view name, std::string_view value) {
  const auto number_into = [&](long long& place) {
    const auto number = read_number<long long>(value);
    place = number.value_or(0);
    return number.has_value();
  };
  if (is_word(name, "ERROR_RATE")) {
    given.rate = value;
    return true;
  }
  if (is_word(name, "INITIAL_SIZE")) return number_into(given.capacity);
  if (is_word(name, "EXPANSION")) return number_into(given.expansion);
  if (is_word(name, "LAYOUT")) {
    given.redisbloom_layout = is_word(value, "REDISBLOOM");
    return given.redisbloom_layout || is_word(value, "EVERSEEN");
  }
  if (!is_word(name, "MAX_SIZE")) return false;
  const auto [size, fault] = read_quantity(quantity::redis_bytes, value);
  given.most_bytes = static_cast<long long>(size);
  return fault == quantity_fault::none && given.most_bytes >= 0;
}

}  // namespace

const module_settings& settings() noexcept {
  return in_effect.parsed;
}

std::string read_settings(api::context* ctx, std::span<api::string*> words) {
  given_settings read;
  if (words.size() % 2 != 0) return "a word without its value";
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string name(text_of(words[i])), its_value(text_of(words[i + 1]));
    if (is_of_another_type(name))
      api::log(ctx, "warning", "everseen has no cuckoo filters: %s has no effect", name.c_str());
    else if (!read_word(read, name, its_value))
      return "unknown: " + name + ' ' + its_value;
  }
  return take(read);
}

namespace {

// Callbacks of the server. No exception may reach it.

/// @return as the server expects it of a setter
int try_to_take(const given_settings& given, api::string** error) noexcept {
  try {
    const std::string why = take(given);
    if (why.empty()) return api::ok;
    *error = api::create_string(nullptr, why.data(), why.size());
  } catch (const std::exception&) {  // memory is short; the server has a text of its own
  }
  return 1;
}

api::string* rate_now(const char* /*name*/, void* /*data*/) {
  static api::string* shown = nullptr;  // the server copies it
  if (shown != nullptr) api::free_string(nullptr, shown);
  shown = api::create_string(nullptr, in_effect.given.rate.data(), in_effect.given.rate.size());
  return shown;
}

int set_rate(const char* /*name*/, api::string* rate, void* /*data*/, api::string** error) {
  given_settings changed = in_effect.given;
  changed.rate = text_of(rate);
  return try_to_take(changed, error);
}

using number_member = long long given_settings::*;

long long number_now(const char* /*name*/, void* data) {
  return in_effect.given.**static_cast<number_member*>(data);
}

int set_number(const char* /*name*/, long long number, void* data, api::string** error) {
  given_settings changed = in_effect.given;
  changed.**static_cast<number_member*>(data) = number;
  return try_to_take(changed, error);
}

int layout_now(const char* /*name*/, void* /*data*/) {
  return in_effect.given.redisbloom_layout ? 1 : 0;
}

int set_layout(const char* /*name*/, int layout, void* /*data*/, api::string** error) {
  given_settings changed = in_effect.given;
  changed.redisbloom_layout = layout == 1;
  return try_to_take(changed, error);
}

number_member capacity = &given_settings::capacity;
number_member expansion = &given_settings::expansion;
number_member most_bytes = &given_settings::most_bytes;

/// Registers a setting under RedisBloom's name, or, where the server puts the module's name before all, as
/// `everseen.NAME`.
template <typename Register>
bool register_as_redisbloom(Register register_with) {
  return register_with(api::config_default | api::config_unprefixed) == api::ok ||
         register_with(api::config_default) == api::ok;
}

}  // namespace

bool register_settings(api::context* ctx) {
  if (api::load_configs == nullptr) return true;
  const given_settings initial = in_effect.given;
  const bool has_theirs =
      register_as_redisbloom([&](unsigned flags) {
        return api::register_string_config(ctx, "bf-error-rate", initial.rate.c_str(), flags, &rate_now,
                                           &set_rate, nullptr, nullptr);
      }) &&
      register_as_redisbloom([&](unsigned flags) {
        return api::register_number_config(ctx, "bf-initial-size", initial.capacity, flags, 1,
                                           std::max(initial.capacity, most_initial_size), &number_now,
                                           &set_number, nullptr, &capacity);
      }) &&
      register_as_redisbloom([&](unsigned flags) {
        return api::register_number_config(ctx, "bf-expansion-factor", initial.expansion, flags, 0,
                                           most_expansion, &number_now, &set_number, nullptr, &expansion);
      });
  static const char* layouts[] = {"everseen", "redisbloom"};
  static constexpr int numbers[] = {0, 1};
  const bool has_ours = has_theirs &&
                        api::register_choice_config(ctx, "layout", initial.redisbloom_layout ? 1 : 0,
                                                    api::config_default, layouts, numbers, 2, &layout_now,
                                                    &set_layout, nullptr, nullptr) == api::ok &&
                        api::register_number_config(ctx, "max-size", initial.most_bytes, api::config_memory,
                                                    0, std::numeric_limits<long long>::max(), &number_now,
                                                    &set_number, nullptr, &most_bytes) == api::ok;
  return has_ours && api::load_configs(ctx) == api::ok;
}

bool repeats_a_decision(api::context* ctx) noexcept {
  const int decided_elsewhere = ctx == nullptr ? api::flag_replica : api::flag_replicated;
  return (api::get_context_flags(ctx) & (decided_elsewhere | api::flag_loading)) != 0;
}

void end_if_it_lacks_memory(api::context* ctx, const std::exception& e) noexcept {
  const bool lacks_memory =
      dynamic_cast<const storage_error*>(&e) != nullptr || dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
  if (!lacks_memory || !repeats_a_decision(ctx)) return;
  api::log(ctx, "warning", "out of memory for a filter that the master or the AOF has: %s", e.what());
  std::abort();
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
