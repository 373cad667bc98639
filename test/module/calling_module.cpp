// Another module of the same server, which calls commands itself, including ours.

#include <cstring>

#include "module/server/api.hpp"

namespace {

namespace api = everseen::module_api;

constexpr int error_reply = 1;
int (*call_reply_type)(api::call_reply*);
int (*reply_with_call_reply)(api::context*, api::call_reply*);
int (*subscribe_to_keys)(api::context*, int types, int (*)(api::context*, int, const char*, api::string*));

/// The last reply to the callback.
char last_answer[256] = "none";

int answer(api::context* ctx, api::call_reply* answer) {
  if (answer == nullptr) return api::reply_with_error(ctx, "ERR not run");
  reply_with_call_reply(ctx, answer);
  api::free_call_reply(answer);
  return api::ok;
}

/// CALLING.RUN command word ...: without a user
int run(api::context* ctx, api::string** words, int count) {
  const auto rest = static_cast<std::size_t>(count) - 2;
  return answer(ctx, api::call(ctx, api::string_bytes(words[1], nullptr), "Ev", words + 2, rest));
}

/// CALLING.RUNAS command word ...: as the calling user
int run_as_user(api::context* ctx, api::string** words, int count) {
  const auto rest = static_cast<std::size_t>(count) - 2;
  return answer(ctx, api::call(ctx, api::string_bytes(words[1], nullptr), "ECv", words + 2, rest));
}

/// CALLING.LAST
int say_last(api::context* ctx, api::string** /*words*/, int /*count*/) {
  return api::reply_with_string(ctx, last_answer, std::strlen(last_answer));
}

/// Adds another key whenever a batch of ours was added.
int add_another(api::context* ctx, int /*type*/, const char* event, api::string* state) {
  if (std::strcmp(event, "everseen.add") != 0) return api::ok;
  std::strcpy(last_answer, "answered");
  api::call_reply* const answer = api::call(ctx, "EVERSEEN.ADD", "Escc", state, "ITEMS", "another");
  if (answer == nullptr) return api::ok;
  if (call_reply_type(answer) == error_reply) std::strcpy(last_answer, "refused");
  api::free_call_reply(answer);
  return api::ok;
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
  find(ctx, "RedisModule_StringPtrLen", api::string_bytes);
  find(ctx, "RedisModule_Call", api::call);
  find(ctx, "RedisModule_CallReplyType", call_reply_type);
  find(ctx, "RedisModule_FreeCallReply", api::free_call_reply);
  find(ctx, "RedisModule_ReplyWithError", api::reply_with_error);
  find(ctx, "RedisModule_ReplyWithStringBuffer", api::reply_with_string);
  find(ctx, "RedisModule_ReplyWithCallReply", reply_with_call_reply);
  find(ctx, "RedisModule_SubscribeToKeyspaceEvents", subscribe_to_keys);
  api::set_module_attributes(ctx, "calling", 1, api::api_version);
  if (api::create_command(ctx, "calling.run", &run, "write", 0, 0, 0) != api::ok ||
      api::create_command(ctx, "calling.runas", &run_as_user, "write", 0, 0, 0) != api::ok ||
      api::create_command(ctx, "calling.last", &say_last, "readonly", 0, 0, 0) != api::ok)
    return 1;
  return subscribe_to_keys(ctx, api::notify_module, &add_another);
}
