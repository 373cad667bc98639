#include "everseen/redis/served/partition_script.hpp"

#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

using kind = meaning::kind;

request partition_script::call(const script& s, std::uint32_t partition, const words& w) const {
  request r{{w.keys.front(), partition}, encode_call(s, w.keys, w.arguments), 1, true};
  r.what = &s;
  return r;
}

meaning partition_script::understand(std::uint32_t partition, const answer& a) const {
  if (!a) return {kind::lost, a.error().message};
  return understand(partition, a->back());
}

meaning partition_script::understand(std::uint32_t partition, const reply& r) const {
  const std::string state = filter_.keys.state(partition);
  if (forbids_scripts(r)) return {kind::denied, scripts_forbidden("the Redis server of " + state)};
  if (r.is_error()) return {kind::refused, std::string(r.text())};
  if (r.what() == reply::kind::nil || r.what() == reply::kind::array)
    return {kind::refused, "a script was answered by something else than it says"};
  if (r.text() == "S") return {kind::stale};
  if (r.text() == "M") return {.what = kind::gone, .text = "is missing", .key = state};
  if (r.text() == "C") return {.what = kind::damaged, .text = "lacks a valid count", .key = state};
  return {kind::done, std::string(r.text())};
}

}  // namespace everseen::redis
