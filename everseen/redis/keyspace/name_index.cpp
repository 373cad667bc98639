#include "everseen/redis/keyspace/name_index.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/base/digits.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

/// Takes a name and creates the sign. KEYS index, sign    ARGV name, id    Returns 1 the name leads to this
/// filter; 0 to another; 2 the names are lost.
const script& take_name() {
  static const script s = make_remembered_script(R"(
local call, index, sign = redis.call, KEYS[1], KEYS[2]
if call('EXISTS', sign) == 1 and call('EXISTS', index) == 0 then return 2 end
call('HSETNX', index, ARGV[1], ARGV[2])
if call('HGET', index, ARGV[1]) ~= ARGV[2] then return 0 end
call('SET', sign, '')
return 1
)");
  return s;
}

/// Removes the name of a filter, if it leads to this one, and records that its keys are to be removed. Its
/// link is deleted with it, and before the last name the sign.
/// KEYS index, links, gone, sign    ARGV name, id, whether another filter may ask it
/// Returns 1 done; 0 another one asks it, or the name leads elsewhere, as to its successor, which keeps it.
const script& forget_name() {
  static const script s = make_remembered_script(std::string(live_links) + R"(
local call, index, name = redis.call, KEYS[1], ARGV[1]
if call('HGET', index, name) ~= ARGV[2] then return 0 end
if ARGV[3] == '0' and is_asked(live_links(KEYS[2]), name) then return 0 end
call('HDEL', KEYS[2], name)
call('HSET', KEYS[3], ARGV[2], '')
if call('HLEN', index) == 1 then call('DEL', KEYS[4]) end
return call('HDEL', index, name)
)");
  return s;
}

/// Gives a filter another name. KEYS index, links, gone    ARGV old name, new name, id, id that the new name
/// may lead to (``: none). Returns `K` done; `T` the new name is taken; `N` the old name leads elsewhere; `L`
/// one of the filters is linked.
const script& move_name() {
  static const script s = make_remembered_script(std::string(live_links) + R"(
local call, index = redis.call, KEYS[1]
local from, to = call('HGET', index, ARGV[1]), call('HGET', index, ARGV[2])
if from ~= ARGV[3] then return 'N' end
if (to or '') ~= ARGV[4] then return 'T' end
local links = live_links(KEYS[2])
for i = 1, 2 do
  if links[ARGV[i]] or is_asked(links, ARGV[i]) then return 'L' end
end
if to then call('HSET', KEYS[3], to, '') end
call('HSET', index, ARGV[2], ARGV[3])
call('HDEL', index, ARGV[1])
return 'K'
)");
  return s;
}

/// KEYS index, links, gone    ARGV id of the old filter, of the new one, both ids in digits
/// Returns whether a name leads to the new one.
const script& put_successor() {
  static const script s = make_script(R"(
local call, index, links, gone, old, new = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local all, is_there = call('HGETALL', index), 0
for i = 1, #all, 2 do
  local name, id = all[i], all[i + 1]
  if id == old or id == new then
    is_there = 1
    if id == old then
      call('HSET', index, name, new)
      call('HSET', gone, old, new)
      local link = call('HGET', links, name)
      if link and string.sub(link, 1, 32) == ARGV[3] then
        call('HSET', links, name, ARGV[4] .. string.sub(link, 33))
      end
    end
  end
end
if is_there == 0 then call('HSETNX', gone, new, '') end
return is_there
)");
  return s;
}

/// KEYS gone    ARGV id
const script& let_go() {
  static const script s = make_script(R"(
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('HSET', KEYS[1], ARGV[1], '') end
return 1
)");
  return s;
}

}  // namespace

/// Asks the index, and whether it was lost.
std::vector<reply> name_index::ask(server_connections& connections, const std::string& commands,
                                   std::size_t answers) const {
  const std::string wire = commands + encode({"EXISTS", place_.key}) + encode({"EXISTS", sign_});
  answer a = exchange_all(connections, {{place_, wire, answers + 2, true}}).front();
  if ((*a)[answers].integer() == 0 && (*a)[answers + 1].integer() == 1) throw is_lost();
  return *std::move(a);
}

format_error name_index::is_lost() const {
  return format_error(
      "the key " + place_.key +
      " is missing, and with it the names of all filters under this prefix: it was deleted, evicted or "
      "overwritten. Restore it, or, to begin without them, delete " +
      sign_);
}

std::optional<image::filter_id> name_index::find(server_connections& connections,
                                                 std::string_view name) const {
  const reply id = ask(connections, encode({"HGET", place_.key, name}), 1).front();
  if (id.is_nil()) return std::nullopt;
  return id_in(id.text(), place_.key);
}

name_index::entries name_index::all(server_connections& connections) const {
  return entries_in(ask(connections, encode({"HGETALL", place_.key}), 1).front());
}

std::pair<name_index::entries, name_index::leftovers> name_index::all_and_left(
    server_connections& connections) const {
  const auto found = ask(connections, encode({"HGETALL", place_.key}) + encode({"HGETALL", gone_}), 2);
  return {entries_in(found[0]), leftovers_in(found[1])};
}

name_index::entries name_index::entries_in(const reply& found) const {
  entries names;
  for (std::size_t i = 0; i + 1 < found.size(); i += 2)
    names.emplace(found[i].text(), id_in(found[i + 1].text(), place_.key));
  return names;
}

bool name_index::leads_to(server_connections& connections, const image::filter_id& id) const {
  return std::ranges::any_of(all(connections), [&](const auto& entry) { return entry.second == id; });
}

bool name_index::claim_name(server_connections& connections, std::string_view name,
                            const image::filter_id& id) const {
  const std::vector<answer> answers = run_scripts(
      connections,
      {remembered(connections,
                  {&take_name(), place_, {place_.key, sign_}, {std::string(name), bytes_of(id)}})});
  if (answers.front() && forbids_scripts(answers.front()->back()))
    return take_by_commands(connections, name, id);
  const std::string_view told = expect_reply(answers.front(), place_.key).text();
  if (told == "2") throw is_lost();
  return told == "1";
}

/// The same, except that the loss of all names between the check and the step goes unnoticed.
bool name_index::take_by_commands(server_connections& connections, std::string_view name,
                                  const image::filter_id& id) const {
  if (const auto there = find(connections, name)) return *there == id;
  const std::string bytes = bytes_of(id);
  const std::string wire = encode({"HSETNX", place_.key, name, bytes}) + encode({"SET", sign_, ""}) +
                           encode({"HGET", place_.key, name});
  return exchange_all(connections, {{place_, wire, 3, true}}).front()->back().text() == bytes;
}

bool name_index::forget(server_connections& connections, std::string_view name, const image::filter_id& id,
                        while_asked mode) const {
  script_call call{&forget_name(), place_, {place_.key, links_, gone_, sign_}};
  call.arguments = {std::string(name), bytes_of(id), mode == while_asked::yes ? "1" : "0"};
  return run_script(connections, remembered(connections, std::move(call))).text() == "1";
}

bool name_index::leftovers::keeps(const image::filter_id& id) const noexcept {
  return std::ranges::any_of(kept, [&](const auto& entry) { return entry.first == id; });
}

name_index::leftovers name_index::left(server_connections& connections) const {
  return leftovers_in(ask_about(connections, {gone_, 0}, {"HGETALL", gone_}));
}

name_index::leftovers name_index::leftovers_in(const reply& found) const {
  leftovers all;
  for (std::size_t i = 0; i + 1 < found.size(); i += 2) {
    const image::filter_id id = id_in(found[i].text(), gone_);
    if (found[i + 1].text().empty())
      all.being_removed.push_back(id);
    else
      all.kept.emplace_back(id, id_in(found[i + 1].text(), gone_));
  }
  return all;
}

void name_index::release(server_connections& connections, const image::filter_id& id) const {
  (void)run_script(connections, {&let_go(), {gone_, 0}, {gone_}, {bytes_of(id)}});
}

bool name_index::succeed(server_connections& connections, const image::filter_id& old,
                         const image::filter_id& successor) const {
  script_call call{&put_successor(), place_, {place_.key, links_, gone_}};
  call.arguments = {bytes_of(old), bytes_of(successor), filter_keys::to_text(old),
                    filter_keys::to_text(successor)};
  call.on_replicas = true;
  return run_script(connections, std::move(call)).integer() == 1;
}

void name_index::note_removed(server_connections& connections, const image::filter_id& id) const {
  (void)ask_about(connections, {gone_, 0}, {"HDEL", gone_, bytes_of(id)});
}

name_index::moved name_index::move(server_connections& connections, std::string_view from,
                                   std::string_view new_name, const image::filter_id& id,
                                   const std::optional<image::filter_id>& instead_of) const {
  script_call call{&move_name(), place_, {place_.key, links_, gone_}};
  call.arguments = {std::string(from), std::string(new_name), bytes_of(id),
                    instead_of ? bytes_of(*instead_of) : std::string()};
  const reply outcome = run_script(connections, remembered(connections, std::move(call)));
  if (outcome.text() == "N") return moved::left;
  if (outcome.text() == "L") return moved::linked;
  return outcome.text() == "T" ? moved::taken : moved::done;
}

namespace {

/// KEYS links, index    ARGV newer, older, its entry, ids that the two names must lead to
/// Returns 1 done, 0 they do not, or one of them has another link.
const script& put_link() {
  static const script s = make_remembered_script(std::string(live_links) + R"(
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
  static const script s = make_remembered_script(R"(
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
  script_call call{&put_link(), place_, {place_.key, index_}};
  call.arguments = {link.newer, link.older.name, entry, bytes_of(newer), bytes_of(older)};
  return run_script(connections, remembered(connections, std::move(call))).text() == "1";
}

void link_hash::forget(server_connections& connections, std::string_view newer,
                       const image::filter_id& id) const {
  script_call call{&forget_link(), place_, {place_.key}, {std::string(newer), filter_keys::to_text(id)}};
  (void)run_script(connections, remembered(connections, std::move(call)));
}

}  // namespace everseen::redis
