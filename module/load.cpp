#include <array>

#include "module/api.hpp"
#include "module/counters.hpp"
#include "module/followers.hpp"
#include "module/packed_commands.hpp"
#include "module/plain_commands.hpp"

namespace everseen::redis_module {

namespace {

namespace api = module_api;

struct command {
  const char* name;
  api::command_function* run;
  const char* flags;
  int last_key;  ///< of the words, which begin with the keys
};

const std::array commands = {
    command{"everseen.add", &add_digests, "write deny-oom", 2},
    command{"everseen.check", &check_digests, "readonly", 1},
    command{"everseen.addkeys", &add_keys, "write deny-oom", 1},
    command{"everseen.checkkeys", &check_keys, "readonly", 1},
    command{"everseen.info", &show_info, "readonly", 1},
    command{"everseen.explain", &explain, "readonly", 1},
};

int load(api::context* ctx) {
  constexpr int failed = 1;
  if (api::bind(ctx) != nullptr) return failed;
  if (api::is_module_name_busy("everseen") != 0) return failed;
  api::set_module_attributes(ctx, "everseen", EVERSEEN_VERSION_NUMBER, api::api_version);
  for (const command& c : commands)
    if (api::create_command(ctx, c.name, c.run, c.flags, 1, c.last_key, 1) != api::ok) return failed;
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
