#include "module/server/api.hpp"

#include <array>

namespace everseen::module_api {

namespace {

enum class need : bool { required, optional };

struct binding {
  const char* name;
  void* address;  // of the pointer to set
  need is = need::required;
};

const std::array bindings = {
    binding{"RedisModule_CreateCommand", &create_command},
    binding{"RedisModule_SetModuleAttribs", &set_module_attributes},
    binding{"RedisModule_IsModuleNameBusy", &is_module_name_busy},
    binding{"RedisModule_Log", &log},
    binding{"RedisModule_WrongArity", &wrong_arity},
    binding{"RedisModule_ReplyWithError", &reply_with_error},
    binding{"RedisModule_ReplyWithSimpleString", &reply_with_simple_string},
    binding{"RedisModule_ReplyWithStringBuffer", &reply_with_string},
    binding{"RedisModule_ReplyWithLongLong", &reply_with_integer},
    binding{"RedisModule_ReplyWithDouble", &reply_with_double},
    binding{"RedisModule_ReplyWithArray", &reply_with_array},
    binding{"RedisModule_ReplyWithNull", &reply_with_null},
    binding{"RedisModule_StringPtrLen", &string_bytes},
    binding{"RedisModule_CreateString", &create_string},
    binding{"RedisModule_FreeString", &free_string},
    binding{"RedisModule_OpenKey", &open_key},
    binding{"RedisModule_CloseKey", &close_key},
    binding{"RedisModule_KeyType", &key_type},
    binding{"RedisModule_ValueLength", &value_length},
    binding{"RedisModule_StringDMA", &string_dma},
    binding{"RedisModule_HashGet", &hash_get},
    binding{"RedisModule_HashSet", &hash_set},
    binding{"RedisModule_StringSet", &set_string},
    binding{"RedisModule_SetExpire", &set_expiry},
    binding{"RedisModule_CreateDataType", &create_data_type},
    binding{"RedisModule_ModuleTypeGetType", &type_of_value},
    binding{"RedisModule_ModuleTypeGetValue", &value_of},
    binding{"RedisModule_ModuleTypeSetValue", &set_value},
    binding{"RedisModule_SaveUnsigned", &save_unsigned},
    binding{"RedisModule_LoadUnsigned", &load_unsigned},
    binding{"RedisModule_SaveDouble", &save_double},
    binding{"RedisModule_LoadDouble", &load_double},
    binding{"RedisModule_IsIOError", &is_rdb_damaged},
    binding{"RedisModule_SaveStringBuffer", &save_bytes},
    binding{"RedisModule_LoadStringBuffer", &load_bytes},
    binding{"RedisModule_EmitAOF", &emit_aof},
    binding{"RedisModule_LogIOError", &log_rdb_error},
    binding{"RedisModule_DigestAddStringBuffer", &digest_add},
    binding{"RedisModule_DigestEndSequence", &digest_end},
    binding{"RedisModule_SetModuleOptions", &set_module_options},
    binding{"RedisModule_Calloc", &allocate_zeroed},
    binding{"RedisModule_Free", &free_memory},
    binding{"RedisModule_Call", &call},
    binding{"RedisModule_FreeCallReply", &free_call_reply},
    binding{"RedisModule_Replicate", &replicate},
    binding{"RedisModule_ReplicateVerbatim", &replicate_verbatim},
    binding{"RedisModule_GetContextFlags", &get_context_flags},
    binding{"RedisModule_Milliseconds", &milliseconds},
    binding{"RedisModule_NotifyKeyspaceEvent", &notify_keyspace_event},
    binding{"RedisModule_GetServerInfo", &get_server_info},
    binding{"RedisModule_ServerInfoGetFieldUnsigned", &server_info_field},
    binding{"RedisModule_FreeServerInfo", &free_server_info},
    binding{"RedisModule_RegisterInfoFunc", &register_info},
    binding{"RedisModule_InfoAddSection", &info_add_section},
    binding{"RedisModule_InfoAddFieldULongLong", &info_add_number},
    binding{"RedisModule_TryAlloc", &try_allocate, need::optional},
    binding{"RedisModule_ReplyWithMap", &reply_with_map, need::optional},
    binding{"RedisModule_ReplyWithBool", &reply_with_bool, need::optional},
    binding{"RedisModule_DefragAlloc", &defragment, need::optional},
    binding{"RedisModule_RegisterStringConfig", &register_string_config, need::optional},
    binding{"RedisModule_RegisterNumericConfig", &register_number_config, need::optional},
    binding{"RedisModule_RegisterEnumConfig", &register_choice_config, need::optional},
    binding{"RedisModule_LoadConfigs", &load_configs, need::optional},
    binding{"RedisModule_GetCommand", &get_command, need::optional},
    binding{"RedisModule_SetCommandInfo", &set_command_info, need::optional},
    binding{"RedisModule_SetCommandACLCategories", &set_command_categories, need::optional},
    binding{"RedisModule_AddACLCategory", &add_acl_category, need::optional},
};

}  // namespace

const char* bind(context* ctx) {
  // A context starts with the address of the function that looks up the others.
  using get_api = int(const char* name, void* address);
  auto* const get = reinterpret_cast<get_api*>(*reinterpret_cast<void**>(ctx));
  const char* lacking = nullptr;
  for (const binding& b : bindings)
    if (get(b.name, b.address) != ok && b.is == need::required) lacking = b.name;
  return lacking;
}

}  // namespace everseen::module_api
