#pragma once

#include <cstdint>
#include <span>

#include "module/server/api.hpp"
#include "module/server/values.hpp"

namespace everseen::redis_module {

/// A command of the module, as data: declared to the server at load time, and shown by COMMAND INFO and
/// COMMAND DOCS.
struct described_command {
  const char* name;
  module_api::command_function* run;
  const char* flags;       ///< of create_command
  const char* categories;  ///< ACL categories, on servers that support them for modules
  int arity;               ///< words including the name; negative: the minimum
  /// How many of the words after the name are keys; -1: all, of which only the first is changed.
  int keys;
  const char* summary;
  const char* complexity;
  std::span<const module_api::argument> arguments;

  [[nodiscard]] bool writes() const noexcept { return flags[0] == 'w'; }
};

// Words of a command.
[[nodiscard]] constexpr module_api::argument key_argument(const char* name, int number = 0, int flags = 0) {
  return {.name = name, .type = module_api::argument_key, .key_spec_index = number, .flags = flags};
}
[[nodiscard]] constexpr module_api::argument text_argument(const char* name, int flags = 0,
                                                           const char* token = nullptr) {
  return {
      .name = name, .type = module_api::argument_text, .key_spec_index = -1, .token = token, .flags = flags};
}
[[nodiscard]] constexpr module_api::argument number_argument(const char* name, int flags = 0,
                                                             const char* token = nullptr) {
  return {.name = name,
          .type = module_api::argument_integer,
          .key_spec_index = -1,
          .token = token,
          .flags = flags};
}
/// A word that may be there or not.
[[nodiscard]] constexpr module_api::argument switch_argument(const char* name, const char* token) {
  return {.name = name,
          .type = module_api::argument_token,
          .key_spec_index = -1,
          .token = token,
          .flags = module_api::argument_optional};
}

[[nodiscard]] std::span<const described_command> all_commands() noexcept;
/// BF.*: the commands of RedisBloom, on filters that are values of keys.
[[nodiscard]] std::span<const described_command> bloom_commands() noexcept;

/// Registers the command with the server that loads the module.
/// @param own_category  of ACLs, which servers from Redis 7.4 on get with it
[[nodiscard]] bool introduce(module_api::context* ctx, const described_command& c,
                             const char* own_category = nullptr);

// Commands that take keys as people and programs write them, on any value: as those of RedisBloom, and for
// windows and partitions, too.

/// EVERSEEN.RESERVE key error_rate capacity [WINDOW ms] [SLICES n] [NONSCALING] [SIPHASH | XXH3]
int reserve_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.ADD key [TIME ms] ITEMS item...: for each item fresh, seen or late, or why it was not judged
int add_values(api::context* ctx, api::string** words, int count);
/// EVERSEEN.CHECK key [TIME ms] ITEMS item...: the same; nothing is added
int check_values(api::context* ctx, api::string** words, int count);

/// EVERSEEN.ADDPACKED key token slice sequence life digests [offsets [fingerprint]]
///
/// Judges the digests and adds the fresh ones; replies with a character for each. `token` is a string beside
/// the value that keeps the sequence number and the reply for `life` ms: if the reply is lost, the client
/// sends the same call again and gets the same reply.
int add_packed(api::context* ctx, api::string** words, int count);

/// EVERSEEN.CHECKPACKED key slice digests [offsets [fingerprint]]
int check_packed(api::context* ctx, api::string** words, int count);

/// EVERSEEN.CLAIMPACKED key records lane head forgotten slice digests offsets fingerprint positions counters
///                      places [name ...]
///
/// The step of a job (doc/format.md, "Jobs"): judges the digests of its events, adds the fresh ones,
/// increments their counters, and stores this in the record of their lane, a field of the hash `records`,
/// where a field with an empty name marks a job that has not ended. All of it is atomic. `head` is the start
/// of the lane's record, empty if there is none; the first `forgotten` bytes of the record are removed.
/// `positions`: 8 bytes per event, big-endian, ascending. `places`: 4 bytes for each of the `counters` of an
/// event, big-endian: an index into the names that follow.
///
/// Replies with a character per event, up to and including the first one without room (3); no later event was
/// judged.
int claim_packed(api::context* ctx, api::string** words, int count);

// A value as a whole: what it is and holds, and what happens to it besides keys.

/// Whose rules loading chunks follows: RedisBloom's, for whole filters without a window and of either type,
/// or those of EVERSEEN.LOADCHUNK.
enum class load_rules : std::uint8_t { bloom, own };
/// BF.LOADCHUNK or EVERSEEN.LOADCHUNK key iterator data: the header, the chunk 1, makes the value; others add
/// their bits
int load_filter(api::context* ctx, api::string** words, int count, load_rules rules);
int load_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.STATE key: the header of its chunks, its successor or "", its content
int show_state(api::context* ctx, api::string** words, int count);
/// EVERSEEN.READ key slice layer offset bytes: bits of a segment; fewer at its end
int read_bits(api::context* ctx, api::string** words, int count);
/// EVERSEEN.SEAL key successor: no more keys are accepted
int seal_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.CLEAR key content: removes every key; the value has this content from then on
int clear_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.EXTEND key slice: moves the window as an add of this slice would
int extend_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.MERGE key source: adds all keys of a value of the same spec and partition, or refuses all
int merge_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.INFO key: its spec and its fill, field by field
int show_value(api::context* ctx, api::string** words, int count);
/// EVERSEEN.EXPLAIN key item: the bits of the item in each segment, and whether they are set
int explain_item(api::context* ctx, api::string** words, int count);

}  // namespace everseen::redis_module
