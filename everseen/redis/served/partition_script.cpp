#include "everseen/redis/served/partition_script.hpp"

#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

using kind = meaning::kind;

std::string partition_script::encoded(const script& s, const words& w, bool with_text) {
  const std::string count = std::to_string(w.keys.size());
  std::vector<std::string_view> all = {with_text ? "EVAL" : "EVALSHA", with_text ? s.text : s.sha1, count};
  all.insert(all.end(), w.keys.begin(), w.keys.end());
  all.insert(all.end(), w.arguments.begin(), w.arguments.end());
  return encode(all);
}

request partition_script::call(const script& s, std::uint32_t partition, const words& w) const {
  return {{w.keys.front(), partition}, encoded(s, w), 1, true};
}

meaning partition_script::understand(std::uint32_t partition, const answer& a) {
  if (!a) return {kind::lost, a.error().message};
  return understand(partition, a->back());
}

meaning partition_script::understand(std::uint32_t partition, const reply& r) {
  if (r.is_error("NOSCRIPT") && !with_text_) {
    with_text_ = true;
    return {kind::again};
  }
  with_text_ = false;
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
