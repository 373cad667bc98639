#include <algorithm>
#include <iterator>

#include "everseen/server/base/command.hpp"

/// Commands of Redis and RedisBloom that everseen serve does not have, with the reason.
namespace everseen::server {

namespace {

constexpr std::string_view scripts =
    "there are no scripts here; put requests that belong together into MULTI and EXEC, or into one BF.MADD";
constexpr std::string_view messages = "there are no channels here; a Redis server has them";
constexpr std::string_view copies =
    "a filter is copied by BF.SCANDUMP and BF.LOADCHUNK, or by everseen export and import";
constexpr std::string_view replicas =
    "this server has no replicas; several servers may share one store on Redis servers, which replicate it";
constexpr std::string_view accounts = "users are options of everseen serve: --user and --user-file";
constexpr std::string_view other_filters =
    "there are only Bloom filters here, from which no key can be removed";
constexpr std::string_view no_values =
    "keys here are Bloom filters; for filters of everseen on Redis the URL of a Redis server is needed, and "
    "a URL of this server begins with everseen://";
constexpr std::string_view no_listening = "no client sees the requests of others; /metrics counts them";
constexpr std::string_view no_swap = "databases are not exchanged as a whole; MOVE moves one filter";
constexpr std::string_view no_rewrite =
    "the server does not write its configuration; change the file of --config";
constexpr std::string_view no_file = "the server keeps no file of commands; SAVE syncs the filters";
constexpr std::string_view no_cache = "clients cannot track keys here";
constexpr std::string_view no_pause = "clients are not paused here; disconnect them by CLIENT KILL";

struct absent_command {
  std::string_view name;  ///< in capitals
  std::string_view why;
};

constexpr absent_command absent[] = {
    {"EVAL", scripts},
    {"EVALSHA", scripts},
    {"EVALSHA_RO", scripts},
    {"EVAL_RO", scripts},
    {"FCALL", scripts},
    {"FCALL_RO", scripts},
    {"FUNCTION", scripts},
    {"SCRIPT", scripts},
    {"SUBSCRIBE", messages},
    {"PSUBSCRIBE", messages},
    {"SSUBSCRIBE", messages},
    {"UNSUBSCRIBE", messages},
    {"PUNSUBSCRIBE", messages},
    {"SUNSUBSCRIBE", messages},
    {"PUBLISH", messages},
    {"SPUBLISH", messages},
    {"PUBSUB", messages},
    {"DUMP", copies},
    {"RESTORE", copies},
    {"RESTORE-ASKING", copies},
    {"MIGRATE", copies},
    {"COPY", copies},
    {"REPLICAOF", replicas},
    {"SLAVEOF", replicas},
    {"REPLCONF", replicas},
    {"PSYNC", replicas},
    {"SYNC", replicas},
    {"FAILOVER", replicas},
    {"ACL|SETUSER", accounts},
    {"ACL|DELUSER", accounts},
    {"ACL|LOAD", accounts},
    {"ACL|SAVE", accounts},
    {"ACL|DRYRUN", accounts},
    {"ACL|LOG", accounts},
    // The first command of everseen's own clients for Redis, which recognise this server by the reply.
    {"HGET", no_values},
    {"HGETALL", no_values},
    {"HKEYS", no_values},
    {"HMGET", no_values},
    {"HSETNX", no_values},
    {"STRLEN", no_values},
    {"GETRANGE", no_values},
    {"BITFIELD", no_values},
    {"XADD", no_values},
    {"XGROUP", no_values},
    {"XINFO", no_values},
    {"XREADGROUP", no_values},
    {"CF.ADD", other_filters},
    {"CF.ADDNX", other_filters},
    {"CF.COUNT", other_filters},
    {"CF.DEL", other_filters},
    {"CF.EXISTS", other_filters},
    {"CF.INFO", other_filters},
    {"CF.INSERT", other_filters},
    {"CF.INSERTNX", other_filters},
    {"CF.LOADCHUNK", other_filters},
    {"CF.MEXISTS", other_filters},
    {"CF.RESERVE", other_filters},
    {"CF.SCANDUMP", other_filters},
    {"MONITOR", no_listening},
    {"SWAPDB", no_swap},
    {"CONFIG|REWRITE", no_rewrite},
    {"BGREWRITEAOF", no_file},
    {"CLIENT|CACHING", no_cache},
    {"CLIENT|PAUSE", no_pause},
    {"CLIENT|UNPAUSE", no_pause},
};

}  // namespace

std::string_view why_not_offered(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(absent), std::end(absent),
                   [&](const absent_command& each) { return is_word(name, each.name); });
  return found != std::end(absent) ? found->why : std::string_view();
}

}  // namespace everseen::server
