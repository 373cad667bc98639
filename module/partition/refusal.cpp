#include "module/partition/refusal.hpp"

namespace everseen::redis_module {

std::string message_of(const refusal& r) {
  using enum refusal::kind;
  switch (r.why) {
    case gone:
      return "NOFILTER there is no such filter, or a part of it is missing or on another server";
    case damaged:
      return "DAMAGED the state of a partition " + r.text;
    case unreadable:
      return "DAMAGED " + r.text;
    case stale:
      return "STALE the partition has changed since it was read";
    case segment:
      return "DAMAGED the segment " + std::to_string(r.id.slice) + "." + std::to_string(r.id.layer) +
             " of a partition is missing, or has another type or length";
    case wrong_type:
      return "WRONGTYPE Operation against a key holding the wrong kind of value";
    case old:
      return "STALE a later batch of this client was answered";
    case ended:
      return "STALE the job was ended";
    case moving:
      return "TRYAGAIN the keys of the partition are on their way to another server";
    case forbidden:
      return "NOPERM this user may not use the key " + r.text;
    case growing:
      return "GROWING the filter is being enlarged; add the key again";
    case limit:
      return "LIMIT this many keys exceed the limit of one call; add the key again";
    case failed:
      break;
  }
  return "ERR " + r.text;
}

}  // namespace everseen::redis_module
