#include "everseen/redis/catalogue.hpp"

#include <algorithm>
#include <charconv>
#include <thread>

#include "everseen/core/error.hpp"
#include "everseen/redis/backoff.hpp"
#include "everseen/redis/header.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/upkeep.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

namespace {

using std::chrono::milliseconds;

/// Clocks of servers differ, so a header may go by its own clock a little before the index's says so.
constexpr milliseconds clocks_may_differ{1'000};

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(value) : std::nullopt;
}

event_time to_time(const reply& answer) {
  const auto seconds = answer.size() == 2 ? number_in<std::int64_t>(answer[0].text()) : std::nullopt;
  const auto rest = answer.size() == 2 ? number_in<std::int64_t>(answer[1].text()) : std::nullopt;
  if (!seconds || !rest) throw backend_error("the Redis server does not tell the time");
  return event_time(milliseconds(*seconds * 1000 + *rest / 1000));
}

/// Several commands about one key.
std::vector<reply> ask_all(session& with, const std::string& key, std::string wire, std::size_t commands) {
  const request r{{key, 0}, std::move(wire), commands, true};
  answer a = std::move(with.exchange(std::span(&r, 1)).front());
  if (!a) throw backend_error(a.error().message);
  for (const reply& each : *a) {
    if (each.is_error("WRONGTYPE")) throw damaged_key(key, "has another type");
    if (each.is_error()) throw backend_error(refused_command(key, each.text()));
  }
  return *std::move(a);
}

}  // namespace

/// The end first: who finds a name must not take its end for damage.
bool catalogue::list(session& with, const remote_filter& f) const {
  const std::string& name = f.keys.name();
  const std::string end = f.ends_at ? to_text(*f.ends_at) : "";
  const std::string ending = f.ends_at ? encode({"ZADD", ends(), end, name}) : encode({"ZREM", ends(), name});
  (void)ask_all(with, index(), ending + encode({"SADD", index(), name}), 2);
  if (is_ready(with, name)) return true;
  unlist(with, name);
  return false;
}

void catalogue::list_again(session& with, std::string_view name) const {
  try {
    if (is_ready(with, name)) (void)list(with, read(with, name));
  } catch (const error&) {
    // It went again, or cannot be read; then nobody will take its name for that of another.
  }
}

bool catalogue::has_header(session& with, std::string_view name) const {
  const std::string key = keys_of(name).header();
  return ask_about(with, {key, 0}, {"EXISTS", key}).integer() == 1;
}

bool catalogue::is_ready(session& with, std::string_view name) const {
  const std::string key = keys_of(name).header();
  const reply fields = ask_about(with, {key, 0}, {"HMGET", key, "ready", "id", "moves_to"});
  if (fields[0].text() != ready) return false;
  return fields[2].is_nil() || !has_moved(with, fields[1].text(), fields[2].text());
}

bool catalogue::has_moved(session& with, std::string_view id, std::string_view to) const {
  const std::string key = keys_of(to).header();
  return ask_about(with, {key, 0}, {"HGET", key, "id"}).text() == id;
}

std::string catalogue::moved_to(session& with, std::string_view name) const {
  const std::string key = keys_of(name).header();
  const reply fields = ask_about(with, {key, 0}, {"HMGET", key, "id", "moves_to"});
  if (fields[1].is_nil() || !has_moved(with, fields[0].text(), fields[1].text())) return {};
  return std::string(fields[1].text());
}

/// Index and header lie on different slots, so no step sees both, and between two steps a filter may come or
/// go. Damage does neither: what looks lost is looked at again for a while before it is called so.
bool catalogue::is_lost(session& with, std::string_view name) const {
  constexpr int looks = 6;
  backoff pause;
  for (int look = 1;; ++look) {
    if (has_header(with, name)) return false;
    if (look_up(with, name) != listing::listed && !require_order(with, name)) return false;
    if (look == looks) return true;
    std::this_thread::sleep_for(pause.next());
  }
}

void catalogue::require_free(session& with, std::string_view name) const {
  validate_filter_name(name);
  (void)require_order(with, name);
  if (has_header(with, name)) throw filter_exists(name);
  if (is_lost(with, name)) throw damaged_key(keys_of(name).header(), "is missing");
}

void catalogue::unlist(session& with, std::string_view name) const {
  (void)ask_all(with, index(), encode({"SREM", index(), name}) + encode({"ZREM", ends(), name}), 2);
}

catalogue::listing catalogue::look_up(session& with, std::string_view name) const {
  const auto answers =
      ask_all(with, index(),
              encode({"SISMEMBER", index(), name}) + encode({"ZSCORE", ends(), name}) + encode({"TIME"}), 3);
  if (answers[0].integer() != 1) return listing::none;
  const auto end = number_in<std::int64_t>(answers[1].text());
  const bool over = end && event_time(milliseconds(*end)) <= to_time(answers[2]) + clocks_may_differ;
  return over ? listing::ended : listing::listed;
}

std::vector<std::string> catalogue::names(session& with) const {
  const reply members = ask_about(with, {index(), 0}, {"SMEMBERS", index()});
  std::vector<std::string> all;
  for (std::size_t i = 0; i < members.size(); ++i) all.emplace_back(members[i].text());
  return all;
}

header catalogue::read_header(session& with, std::string_view name) const {
  validate_filter_name(name);
  const std::string key = keys_of(name).header();
  const reply fields = header_of(with, name);
  bool nothing = true;
  for (std::size_t i = 0; i < fields.size(); ++i) nothing = nothing && fields[i].is_nil();
  if (!nothing) {
    if (fields[3].text() == ready) {
      header h = decode(name, fields);
      if (h.moves && has_moved(with, fields[1].text(), h.moves->to)) throw no_such_filter(name);
      return h;
    }
    throw storage_error("the filter '" + std::string(name) +
                            "' is being dropped by another process, or was left half dropped by one that "
                            "died; drop it (again)",
                        0, key);
  }
  if (is_lost(with, name)) throw damaged_key(key, "is missing");
  if (look_up(with, name) == listing::ended)
    throw filter_ended("the filter '" + std::string(name) +
                       "' has ended, as it was made to; make one with: everseen create " + std::string(name));
  throw no_such_filter(name);
}

reply catalogue::header_of(session& with, std::string_view name) const {
  const std::string key = keys_of(name).header();
  reply fields =
      ask_about(with, {key, 0}, {"HMGET",       key,         "spec",     "id",        "generation",
                                 "ready",       "ends_at",   "next",     "next_spec", "next_ready",
                                 "key",         "cursor",    "place",    "servers",   "link",
                                 "link_until",  "linked_by", "jobs",     "kept_as",   "moves_to",
                                 "moves_until", "came_from", "replaces", "ends_next", "end_number"});
  order_.require(name, 0, fields[10], fields[11]);
  return fields;
}

bool catalogue::require_order(session& with, std::string_view name) const {
  const std::string key = keys_of(name).header();
  const std::string wire = encode({"HMGET", key, "place", "servers", "ends_at"});
  std::vector<request> requests;
  for (std::uint32_t place = 0; place <= order_.others(); ++place)
    requests.push_back({{key, place}, wire, 1, true});
  const std::vector<answer> answers = with.exchange(requests);
  bool has_sign = false;
  for (std::uint32_t place = 0; place < answers.size(); ++place) {
    const answer& a = answers[place];
    if (!a || a->back().is_error()) continue;
    const reply& said = a->back();
    order_.require(name, place, said[0], said[1]);
    has_sign = has_sign || (place > 0 && !said[0].is_nil() && said[2].is_nil());
  }
  return has_sign;
}

void catalogue::require_signs(session& with, std::string_view name) const {
  const std::string key = keys_of(name).header();
  for (std::uint32_t place = 1; place <= order_.others(); ++place) {
    const route to{key, place};
    const reply said = ask_about(with, to, {"HMGET", key, "place", "servers"});
    order_.require(name, place, said[0], said[1]);
    if (said[0].is_nil())
      throw damaged_key(key, "is missing on the server " + to_string(with.server_of(to)) +
                                 ", which has lost its data, or this key of it");
  }
}

void catalogue::put_up_sign(session& with, const remote_filter& f, std::uint32_t place) const {
  const std::string id(reinterpret_cast<const char*>(f.id.data()), f.id.size());
  std::vector<std::string> fields = order_.fields(place);
  if (f.ends_at) fields.insert(fields.end(), {"ends_at", to_text(*f.ends_at)});
  const auto begun = begin_header(with, {f.keys.header(), place}, id, fields);
  if (!begun) throw backend_error(begun.error().message);
  if (!*begun) throw filter_exists(f.keys.name());
}

void catalogue::put_up_signs(session& with, const remote_filter& f) const {
  for (std::uint32_t place = 1; place <= order_.others(); ++place) {
    try {
      put_up_sign(with, f, place);
    } catch (const error&) {
      // The filter is there all the same.
    }
  }
}

void catalogue::put_up_all_signs(session& with, const remote_filter& f) const {
  for (std::uint32_t place = 1; place <= order_.others(); ++place) put_up_sign(with, f, place);
}

/// On a server that has none it makes none that would be taken for one: a sign says its place.
void catalogue::end_signs(session& with, const remote_filter& f) const {
  const std::string key = f.keys.header();
  std::vector<request> requests;
  for (std::uint32_t place = 1; place <= order_.others(); ++place) {
    if (ask_about(with, {key, place}, {"HEXISTS", key, "place"}).integer() != 1) continue;
    const std::string end = f.ends_at ? to_text(*f.ends_at) : "";
    requests.push_back({{key, place},
                        f.ends_at ? encode({"HSET", key, "ends_at", end}) + encode({"PEXPIREAT", key, end})
                                  : encode({"HDEL", key, "ends_at"}) + encode({"PERSIST", key}),
                        2,
                        true});
  }
  for (const answer& a : with.exchange(requests)) {
    if (!a) throw backend_error(a.error().message);
    for (const reply& each : *a)
      if (each.is_error()) throw backend_error(refused_command(key, each.text()));
  }
}

void catalogue::take_down_signs(session& with, std::string_view name) const {
  const std::string key = keys_of(name).header();
  for (std::uint32_t place = 1; place <= order_.others(); ++place)
    if (ask_about(with, {key, place}, {"HEXISTS", key, "place"}).integer() == 1)
      (void)ask_about(with, {key, place}, {"UNLINK", key});
}

void catalogue::take_down_signs_of(session& with, std::string_view name, const std::string& id) const {
  const std::string key = keys_of(name).header();
  for (std::uint32_t place = 1; place <= order_.others(); ++place)
    (void)remove_header_if(with, {key, place}, {{"id", id}});
}

event_time catalogue::server_time(session& with, const std::string& key) {
  return to_time(ask_about(with, {key, 0}, {"TIME"}));
}

}  // namespace everseen::redis
