#include <algorithm>
#include <cerrno>
#include <span>
#include <string>

#include "module/commands/command_table.hpp"
#include "module/server/api.hpp"
#include "module/server/counters.hpp"
#include "module/server/settings.hpp"
#include "module/server/values.hpp"
#include "module/value/filter_type.hpp"

namespace everseen::redis_module {

namespace {

namespace api = module_api;

constexpr int failed = 1;

/// BF.* and the types of its values. Where another module has them, such as RedisBloom, it keeps them.
bool introduce_values(api::context* ctx) {
  const auto is_taken = [&](const described_command& c) {
    errno = 0;
    const called nothing(api::call(ctx, c.name, ""));
    return errno != ENOENT;
  };
  const bool has_bloom = std::ranges::any_of(bloom_commands(), is_taken);
  if (!declare_filter_types(ctx, !has_bloom)) {
    api::log(ctx, "warning", "everseen cannot have its type of values, since another module has it");
    return false;
  }
  if (has_bloom) {
    api::log(ctx, "warning", "everseen does not answer BF.*, since another module of this server does");
    return true;
  }
  return std::ranges::all_of(bloom_commands(), [&](const auto& c) { return introduce(ctx, c, "bloom"); });
}

int load(api::context* ctx, std::span<api::string*> words) {
  if (api::bind(ctx) != nullptr) return failed;
  if (const std::string refused = read_settings(ctx, words); !refused.empty()) {
    api::log(ctx, "warning", "everseen cannot be loaded with these words: %s", refused.c_str());
    return failed;
  }
  if (api::is_module_name_busy("everseen") != 0) return failed;
  api::set_module_attributes(ctx, "everseen", EVERSEEN_VERSION_NUMBER, api::api_version);
  for (const described_command& c : all_commands())
    if (!introduce(ctx, c)) return failed;
  if (!introduce_values(ctx)) return failed;
  if (!register_settings(ctx)) {
    api::log(ctx, "warning", "everseen's settings were not accepted; the lines above say why");
    return failed;
  }
  return api::register_info(ctx, &show_counters);
}

}  // namespace

}  // namespace everseen::redis_module

/// The entry point that the server calls when it loads the module.
extern "C" [[gnu::visibility("default")]] int RedisModule_OnLoad(everseen::module_api::context* ctx,
                                                                 everseen::module_api::string** words,
                                                                 int count) {
  return everseen::redis_module::load(ctx, {words, static_cast<std::size_t>(count)});
}
