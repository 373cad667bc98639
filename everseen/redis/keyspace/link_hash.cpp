#include "everseen/redis/keyspace/link_hash.hpp"

#include <utility>

#include "everseen/core/base/digits.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

/// KEYS links, index    ARGV newer, older, its entry, ids that the two names must lead to
/// Returns 1 done, 0 they do not, or one of them has another link.
const script& put_link() {
  static const script s = make_script(std::string(live_links) + R"(
local call, links, newer, older = redis.call, KEYS[1], ARGV[1], ARGV[2]
local ids = call('HMGET', KEYS[2], newer, older)
if ids[1] ~= ARGV[4] or ids[2] ~= ARGV[5] then return 0 end
local live = live_links(links)
for from, to in pairs(live) do
  if (from == newer) ~= (to == older) or from == older or to == newer then return 0 end
end
for _, from in ipairs(call('HKEYS', links)) do
  if not live[from] then call('HDEL', links, from) end
end
call('HSET', links, newer, ARGV[3])
return 1
)");
  return s;
}

/// KEYS links    ARGV newer, its id
const script& forget_link() {
  static const script s = make_script(R"(
local kept = redis.call('HGET', KEYS[1], ARGV[1])
if not kept or string.sub(kept, 1, 32) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
)");
  return s;
}

filter_link link_in(std::string_view newer, std::string_view entry, const std::string& key) {
  filter_link l{std::string(newer), {}, std::string(entry.substr(0, entry.find(' ')))};
  const std::size_t from = l.id.size() + 1;
  const std::size_t end = entry.find(' ', from);
  bool is_whole = filter_keys::parse_id(l.id) && end != std::string_view::npos;
  if (is_whole && entry.substr(from, end - from) != "-") {
    const auto until = read_number(entry.substr(from, end - from));
    is_whole = until.has_value();
    l.older.until = event_time(std::chrono::milliseconds(until.value_or(0)));
  }
  if (!is_whole) throw damaged_key(key, "holds something else than a link");
  l.older.name = entry.substr(end + 1);
  return l;
}

}  // namespace

filter_links link_hash::all(server_connections& connections) const {
  const std::string wire = encode({"HGETALL", place_.key}) + encode({"TIME"});
  const answer a = exchange_all(connections, {{place_, wire, 2, true}}).front();
  const event_time current_time = time_in(a->back());
  const reply& fields = a->front();
  filter_links links;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    filter_link l = link_in(fields[i].text(), fields[i + 1].text(), place_.key);
    if (!l.older.is_over(current_time)) links.push_back(std::move(l));
  }
  return links;
}

std::optional<predecessor> link_hash::asked_first(server_connections& connections,
                                                  const image::filter_id& id) const {
  for (filter_link& l : all(connections))
    if (l.id == filter_keys::to_text(id)) return std::move(l.older);
  return std::nullopt;
}

bool link_hash::put(server_connections& connections, const filter_link& link, const image::filter_id& newer,
                    const image::filter_id& older) const {
  const std::string entry = filter_keys::to_text(newer) + ' ' +
                            (link.older.until ? to_text(*link.older.until) : "-") + ' ' + link.older.name;
  return run_script(connections, {&put_link(),
                                  place_,
                                  {place_.key, index_},
                                  {link.newer, link.older.name, entry, bytes_of(newer), bytes_of(older)}})
             .integer() == 1;
}

void link_hash::forget(server_connections& connections, std::string_view newer,
                       const image::filter_id& id) const {
  (void)run_script(connections,
                   {&forget_link(), place_, {place_.key}, {std::string(newer), filter_keys::to_text(id)}});
}

}  // namespace everseen::redis
