// Another module of the same server, which has one of the commands that ours has.

#include "module/server/api.hpp"

namespace {

namespace api = everseen::module_api;

/// BF.ADD, of some other kind of filter.
int add(api::context* ctx, api::string** /*words*/, int /*count*/) {
  return api::reply_with_simple_string(ctx, "theirs");
}

template <typename Function>
void find(api::context* ctx, const char* name, Function& pointer) {
  auto* const get = reinterpret_cast<int (*)(const char*, void*)>(*reinterpret_cast<void**>(ctx));
  (void)get(name, &pointer);
}

}  // namespace

extern "C" int RedisModule_OnLoad(api::context* ctx, api::string** /*words*/, int /*count*/) {
  find(ctx, "RedisModule_SetModuleAttribs", api::set_module_attributes);
  find(ctx, "RedisModule_CreateCommand", api::create_command);
  find(ctx, "RedisModule_ReplyWithSimpleString", api::reply_with_simple_string);
  api::set_module_attributes(ctx, "owning", 1, api::api_version);
  return api::create_command(ctx, "bf.add", &add, "write", 1, 1, 1);
}
