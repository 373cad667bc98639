#pragma once

#include <cstddef>
#include <cstdint>

/// The functions of the Redis modules API that this module uses, declared from its public reference.
///
/// The server passes their addresses by name when it loads the module (bind), so nothing is linked. Optional
/// functions are null on servers that lack them. Threads: the server's main thread only.
namespace everseen::module_api {

struct context;
struct string;
struct key;
struct call_reply;
struct info_context;
struct server_info;
struct command;
struct rdb;           ///< RedisModuleIO: an RDB or AOF that is read or written
struct digest_state;  ///< RedisModuleDigest
struct defrag_state;  ///< RedisModuleDefragCtx
struct data_type;     ///< RedisModuleType

using command_function = int(context*, string**, int);

inline constexpr int ok = 0;
inline constexpr int api_version = 1;

// Modes of open_key.
inline constexpr int read_key = 1 << 0;
inline constexpr int write_key = 1 << 1;
// Results of key_type.
inline constexpr int type_empty = 0;
inline constexpr int type_string = 1;
inline constexpr int type_hash = 3;
inline constexpr int type_module = 6;
// Flags of get_context_flags.
inline constexpr int flag_replica = 1 << 3;
inline constexpr int flag_evicts = 1 << 9;
inline constexpr int flag_replicated = 1 << 12;
inline constexpr int flag_loading = 1 << 13;
inline constexpr int flag_resp3 = 1 << 22;
// Option of set_module_options: a damaged RDB is a result of load_bytes, not the end of the server.
inline constexpr int handle_io_errors = 1 << 0;
// The text of an error about a key of another type.
inline constexpr const char* wrong_type = "WRONGTYPE Operation against a key holding the wrong kind of value";
// Class of keyspace events sent by modules.
inline constexpr int notify_module = 1 << 13;

/// The description of a command in COMMAND DOCS (Redis 7.0): RedisModuleCommandInfo and its parts, in the
/// layout of the modules API, version 1.
struct key_spec {
  const char* notes;
  std::uint64_t flags;
  int begin_search;
  struct alignas(void*) {  // a union that also contains a pointer
    int position;
    int unused[3];
  } begin;
  int find_keys;
  struct {
    int last;
    int step;
    int limit;
  } range;
};
static_assert(sizeof(void*) != 8 || sizeof(key_spec) == 56);
inline constexpr std::uint64_t key_is_read = 1 << 0;     ///< the value is only read
inline constexpr std::uint64_t key_is_changed = 1 << 1;  ///< the value is read and changed
inline constexpr std::uint64_t key_access = 1 << 4;
inline constexpr std::uint64_t key_update = 1 << 5;
inline constexpr int search_by_index = 2;
inline constexpr int find_range = 2;

struct argument {
  const char* name = nullptr;
  int type = 0;
  int key_spec_index = 0;
  const char* token = nullptr;
  const char* summary = nullptr;
  const char* since = nullptr;
  int flags = 0;
  const char* deprecated_since = nullptr;
  argument* parts = nullptr;
};
inline constexpr int argument_text = 0;
inline constexpr int argument_integer = 1;
inline constexpr int argument_key = 3;
inline constexpr int argument_token = 6;
inline constexpr int argument_optional = 1 << 0;
inline constexpr int argument_repeats = 1 << 1;

struct history_entry {
  const char* since;
  const char* changes;
};
struct info_version {
  int version;
  std::size_t history_entry_bytes;
  std::size_t key_spec_bytes;
  std::size_t argument_bytes;
};
struct command_info {
  const info_version* version = nullptr;
  const char* summary = nullptr;
  const char* complexity = nullptr;
  const char* since = nullptr;
  history_entry* history = nullptr;
  const char* tips = nullptr;
  int arity = 0;
  key_spec* key_specs = nullptr;
  argument* arguments = nullptr;
};

/// The callbacks of a data type: RedisModuleTypeMethods, version 4. An older server ignores those it does not
/// know.
struct type_methods {
  std::uint64_t version = 4;
  void* (*rdb_load)(rdb*, int encoding_version) = nullptr;
  void (*rdb_save)(rdb*, void* value) = nullptr;
  void (*aof_rewrite)(rdb*, string* key, void* value) = nullptr;
  std::size_t (*mem_usage)(const void* value) = nullptr;
  void (*digest)(digest_state*, void* value) = nullptr;
  void (*free)(void* value) = nullptr;
  int (*aux_load)(rdb*, int encoding_version, int when) = nullptr;
  void (*aux_save)(rdb*, int when) = nullptr;
  int aux_save_triggers = 0;
  std::size_t (*free_effort)(string* key, const void* value) = nullptr;
  void (*unlink)(string* key, const void* value) = nullptr;
  void* (*copy)(string* from, string* target, const void* value) = nullptr;
  int (*defrag)(defrag_state*, string* key, void** value) = nullptr;
  void* reserved[4] = {};  // the same with a database number
};

inline int (*create_command)(context*, const char* name, command_function*, const char* flags, int first_key,
                             int last_key, int key_step);
inline void (*set_module_attributes)(context*, const char* name, int version, int api_version);
inline int (*is_module_name_busy)(const char* name);
inline void (*log)(context*, const char* level, const char* format, ...);

inline int (*wrong_arity)(context*);
inline int (*reply_with_error)(context*, const char* message);
inline int (*reply_with_simple_string)(context*, const char* text);
inline int (*reply_with_string)(context*, const char* bytes, std::size_t size);
inline int (*reply_with_integer)(context*, long long value);
inline int (*reply_with_double)(context*, double value);
inline int (*reply_with_array)(context*, long size);

inline int (*reply_with_null)(context*);

inline const char* (*string_bytes)(const string*, std::size_t* size);
inline string* (*create_string)(context*, const char* bytes, std::size_t size);
inline void (*free_string)(context*, string*);

inline key* (*open_key)(context*, string* name, int mode);
inline void (*close_key)(key*);
inline int (*key_type)(key*);
inline std::size_t (*value_length)(key*);
inline char* (*string_dma)(key*, std::size_t* size, int mode);
inline int (*hash_get)(key*, int flags, ...);
inline int (*hash_set)(key*, int flags, ...);
inline int (*set_string)(key*, string*);
inline int (*set_expiry)(key*, long long milliseconds);

inline data_type* (*create_data_type)(context*, const char* name, int encoding_version, type_methods*);
inline data_type* (*type_of_value)(key*);
inline void* (*value_of)(key*);
inline int (*set_value)(key*, data_type*, void* value);
inline void (*save_unsigned)(rdb*, std::uint64_t);
inline std::uint64_t (*load_unsigned)(rdb*);
inline void (*save_double)(rdb*, double);
inline double (*load_double)(rdb*);
inline int (*is_rdb_damaged)(rdb*);  ///< reading has failed
inline void (*save_bytes)(rdb*, const char* bytes, std::size_t size);
inline char* (*load_bytes)(rdb*, std::size_t* size);  ///< freed by free_memory; null: the RDB is damaged
inline void (*emit_aof)(rdb*, const char* command, const char* format, ...);
inline void (*log_rdb_error)(rdb*, const char* level, const char* format, ...);
inline void (*digest_add)(digest_state*, const char* bytes, std::size_t size);
inline void (*digest_end)(digest_state*);
inline void (*set_module_options)(context*, int options);
inline void* (*allocate_zeroed)(std::size_t count,
                                std::size_t bytes);  ///< ends the server if memory is short
inline void (*free_memory)(void*);

inline call_reply* (*call)(context*, const char* command, const char* format, ...);
inline void (*free_call_reply)(call_reply*);

inline int (*replicate)(context*, const char* command, const char* format, ...);
inline int (*replicate_verbatim)(context*);
inline int (*get_context_flags)(context*);  ///< null: of the server alone
inline long long (*milliseconds)();
inline int (*notify_keyspace_event)(context*, int type, const char* event, string* key);

inline server_info* (*get_server_info)(context*, const char* section);
inline unsigned long long (*server_info_field)(server_info*, const char* field, int* error);
inline void (*free_server_info)(context*, server_info*);

/// Settings of the server (Redis 7.0): CONFIG GET and SET, and lines of its file.
inline constexpr unsigned config_default = 0;
inline constexpr unsigned config_memory = 1 << 7;      ///< bytes, as 512mb
inline constexpr unsigned config_unprefixed = 1 << 9;  ///< its name is not `everseen.NAME` (Redis 8.0)
using string_getter = string*(const char* name, void* data);
using string_setter = int(const char* name, string* value, void* data, string** error);
using number_getter = long long(const char* name, void* data);
using number_setter = int(const char* name, long long value, void* data, string** error);
using choice_getter = int(const char* name, void* data);
using choice_setter = int(const char* name, int value, void* data, string** error);
using apply_function = int(context*, void* data, string** error);
inline int (*register_string_config)(context*, const char* name, const char* initial, unsigned flags,
                                     string_getter*, string_setter*, apply_function*, void* data);
inline int (*register_number_config)(context*, const char* name, long long initial, unsigned flags,
                                     long long least, long long most, number_getter*, number_setter*,
                                     apply_function*, void* data);
inline int (*register_choice_config)(context*, const char* name, int initial, unsigned flags,
                                     const char** names, const int* values, int count, choice_getter*,
                                     choice_setter*, apply_function*, void* data);
inline int (*load_configs)(context*);  ///< sets each to what the file says, or to its initial value

inline int (*register_info)(context*, void (*)(info_context*, int for_crash));
inline int (*info_add_section)(info_context*, const char* name);
inline int (*info_add_number)(info_context*, const char* field, unsigned long long value);

// Optional: Redis 7.0.
inline void* (*try_allocate)(std::size_t bytes);
inline int (*reply_with_map)(context*, long size);
inline int (*reply_with_bool)(context*, int value);
inline void* (*defragment)(defrag_state*, void* memory);  ///< its new place; null: it stays
inline command* (*get_command)(context*, const char* name);
inline int (*set_command_info)(command*, const command_info*);
// Optional: Redis 7.2.
inline int (*set_command_categories)(command*, const char* categories);
// Optional: Redis 7.4.
inline int (*add_acl_category)(context*, const char* name);

/// Looks up all functions in the server.
/// @return the name of a missing function that is not optional; null if none is missing
const char* bind(context* ctx);

}  // namespace everseen::module_api
