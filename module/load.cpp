#include "module/api.hpp"
#include "module/command_table.hpp"
#include "module/counters.hpp"
#include "module/followers.hpp"

namespace everseen::redis_module {

namespace {

namespace api = module_api;

constexpr int failed = 1;

int load(api::context* ctx) {
  if (api::bind(ctx) != nullptr) return failed;
  if (api::is_module_name_busy("everseen") != 0) return failed;
  api::set_module_attributes(ctx, "everseen", EVERSEEN_VERSION_NUMBER, api::api_version);
  for (const described_command& c : all_commands())
    if (!introduce(ctx, c)) return failed;
  watch_followers(ctx);
  return api::register_info(ctx, &show_counters);
}

}  // namespace

}  // namespace everseen::redis_module

/// What a server calls when it loads the module.
extern "C" [[gnu::visibility("default")]] int RedisModule_OnLoad(everseen::module_api::context* ctx,
                                                                 everseen::module_api::string** /*words*/,
                                                                 int /*count*/) {
  return everseen::redis_module::load(ctx);
}
