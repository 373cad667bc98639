#include "everseen/redis/renaming.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "everseen/redis/ending.hpp"
#include "everseen/redis/linking.hpp"
#include "everseen/redis/redis_rebuild.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/scripts.hpp"
#include "everseen/redis/upkeep.hpp"

namespace everseen::redis {

namespace {

/// So long after it was announced a header may still arrive.
constexpr std::chrono::milliseconds way = std::chrono::seconds(15);
/// By so much clocks of servers may differ.
constexpr std::chrono::milliseconds clocks_may_differ = std::chrono::seconds(5);

std::string id_text(const remote_filter& f) {
  return {reinterpret_cast<const char*>(f.id.data()), f.id.size()};
}

storage_error busy(const header& h) {
  return storage_error("'" + h.live.keys.name() + "' is being renamed to '" + h.moves->to +
                           "' by another process; try again in some seconds",
                       0, h.live.keys.header());
}

/// What must not change between the look at a header and the step that it was looked at for.
header_fields as_seen(const header& h) {
  const auto& end = h.live.ends_at;
  return {{"id", id_text(h.live)},
          {"generation", std::to_string(h.live.generation)},
          {"ready", std::string(ready)},
          {"ends_at", end ? to_text(*end) : ""},
          {"ends_next", ""},
          {"next", ""},
          {"jobs", h.has_jobs ? "1" : ""},
          {"link", h.linked ? h.linked->name : ""},
          {"linked_by", h.linked_by},
          {"came_from", ""},
          {"moves_to", h.moves ? h.moves->to : ""}};
}

/// Brings to an end whatever others have begun with a filter, so that it can move or make way.
void prepare(session& with, const catalogue& names, header& h) {
  const std::string& name = h.live.keys.name();
  if (h.attached)
    throw parameter_error("'" + name +
                          "' is attached: its bits are another program's; drop the name, and attach "
                          "the filter again under another one");
  require_alone(with, names, h);
  finish_rename(with, names, h);
  finish_rebuild(with, names, h);
  finish_end(with, names, h);
  if (h.next) throw parameter_error("'" + name + "' is being rebuilt; rename it when that is done");
  require_staying(with, h);
}

std::optional<header> find(session& with, const catalogue& names, std::string_view name) {
  try {
    return names.read_header(with, name);
  } catch (const no_filter&) {
    return std::nullopt;
  }
}

/// What is left of a filter that lost its name, for replaced_filter(): "generation partitions jobs name".
std::string note_of(const header& h) {
  return std::to_string(h.live.generation) + " " + std::to_string(h.live.spec.partitions) + " " +
         (h.has_jobs ? "1" : "0") + " " + h.live.keys.kept_as();
}

/// The fields of the header under the new name.
std::vector<std::string> moved_fields(session& with, const header& h, event_time until,
                                      const std::optional<header>& other) {
  const std::string key = h.live.keys.header();
  const reply all = ask_about(with, {key, 0}, {"HGETALL", key});
  std::vector<std::string> fields;
  constexpr std::string_view left_behind[] = {"moves_to",  "moves_until", "link",      "link_until",
                                              "linked_by", "kept_as",     "came_from", "came_until",
                                              "replaces",  "replaced_id"};
  for (std::size_t i = 0; i + 1 < all.size(); i += 2)
    if (std::ranges::find(left_behind, all[i].text()) == std::end(left_behind))
      fields.insert(fields.end(), {std::string(all[i].text()), std::string(all[i + 1].text())});
  fields.insert(fields.end(), {"kept_as", h.live.keys.kept_as(), "came_from", h.live.keys.name(),
                               "came_until", to_text(until)});
  if (other) fields.insert(fields.end(), {"replaces", note_of(*other), "replaced_id", id_text(other->live)});
  return fields;
}

/// What a server remembers an arrival by; in the slot of the header.
std::string token_of(const session& with, const key_names& there, event_time until) {
  const std::string key = there.header();
  const std::string prefix = key.substr(0, key.size() - there.name().size());
  return prefix + "{" + key + "}:t:" + with.name() + to_text(until);
}

/// Sends the header to its new place.    @return as scripts::arrive()
std::string arrive(session& with, const key_names& there, event_time until,
                   const std::optional<header>& other, const std::vector<std::string>& fields) {
  const std::string key = there.header();
  const header_fields seen = other ? as_seen(*other) : header_fields{};
  std::vector<std::string> arguments = {key, token_of(with, there, until), to_text(until),
                                        std::to_string((way + clocks_may_differ).count()),
                                        std::to_string(seen.size())};
  for (const auto& [field, value] : seen) arguments.insert(arguments.end(), {std::string(field), value});
  arguments.insert(arguments.end(), fields.begin(), fields.end());
  std::vector<std::string_view> words = {"EVAL", scripts::arrive().text, "2"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const request r{{key, 0}, encode(words), 1, true};
  const answer a = std::move(with.exchange(std::span(&r, 1)).front());
  if (!a) throw backend_error(a.error().message);
  if (a->front().is_error()) throw backend_error(refused_command(key, a->front().text()));
  return std::string(a->front().text());
}

/// An index that knew the end too late would take the header that went with it for a lost one.
void list_earlier_end(session& with, const catalogue& names, const header& h, std::string_view to,
                      const header& other) {
  const auto& end = h.live.ends_at;
  if (!end || (other.live.ends_at && *other.live.ends_at <= *end)) return;
  remote_filter ending = other.live;
  ending.keys = names.keys_of(to);
  ending.ends_at = end;
  (void)names.list(with, ending);
}

void take_back(session& with, const header& h, const header::move& mine) {
  (void)change_header(with, h.live.keys.header(),
                      {{"id", id_text(h.live)}, {"moves_to", mine.to}, {"moves_until", to_text(mine.until)}},
                      {{"moves_to", ""}, {"moves_until", ""}});
}

parameter_error changed_meanwhile(std::string_view name) {
  return parameter_error(
      std::string("'").append(name).append("' was changed by somebody else meanwhile; look, and try again"));
}

}  // namespace

void require_staying(session& with, header& h) {
  if (!h.moves) return;
  const std::string& key = h.live.keys.header();
  if (catalogue::server_time(with, key) <= h.moves->until + clocks_may_differ) throw busy(h);
  take_back(with, h, *h.moves);
  h.moves.reset();
}

void rename(session& with, const catalogue& names, std::string_view from, std::string_view to,
            store::namesake there) {
  validate_filter_name(to);
  header h = names.read_header(with, from);
  if (from == to && there == store::namesake::replace) return;
  finish_rename_from(with, names, to);
  std::optional<header> other = find(with, names, to);
  if (other && there == store::namesake::refuse) throw filter_exists(to);
  if (!other) names.require_free(with, to);
  prepare(with, names, h);
  if (other) prepare(with, names, *other);

  const std::string key = h.live.keys.header();
  const header::move mine = {std::string(to), catalogue::server_time(with, key) + way};
  if (!change_header(with, key, as_seen(h), {{"moves_to", mine.to}, {"moves_until", to_text(mine.until)}}))
    throw changed_meanwhile(from);
  if (other) list_earlier_end(with, names, h, to, *other);
  const std::string came =
      arrive(with, names.keys_of(to), mine.until, other, moved_fields(with, h, mine.until, other));
  if (came != "K") {
    take_back(with, h, mine);
    if (other) names.list_again(with, to);
    if (there == store::namesake::refuse && came == "C") throw filter_exists(to);
    throw changed_meanwhile(came == "C" ? to : from);
  }
  try {
    header moved = names.read_header(with, to);
    finish_rename(with, names, moved);
  } catch (const no_filter&) {
    // It was done, and somebody has renamed it on since, or dropped it.
  }
}

}  // namespace everseen::redis
