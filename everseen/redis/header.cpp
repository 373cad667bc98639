#include "everseen/redis/header.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/scripts.hpp"

namespace everseen::redis {

namespace {

/// Of changes in a row that were lost while the looks before them were not: then the server is no master.
constexpr unsigned max_outages = 10;

std::string encode_with(std::vector<std::string_view> words, std::span<const std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
  return encode(words);
}

answer send(session& with, const route& to, std::string wire, std::size_t commands) {
  const request r{to, std::move(wire), commands, true};
  return std::move(with.exchange(std::span(&r, 1)).front());
}

/// @throws backend_error  one of the commands was refused
void require_no_error(const answer& a, const std::string& key) {
  if (!a) return;
  for (const reply& r : *a)
    if (r.is_error()) throw backend_error(refused_command(key, r.text()));
}

/// @return empty if there is no header, or no such field in it
/// @throws backend_error
std::string watch_generation(session& with, const std::string& key) {
  const answer a = send(with, {key, 0}, encode({"WATCH", key}) + encode({"HGET", key, "generation"}), 2);
  if (!a) throw backend_error(a.error().message);
  if (!a->back().is_error("WRONGTYPE")) require_no_error(a, key);
  return a->back().is_error() ? "" : std::string(a->back().text());
}

/// Without scripts the header is watched from the look at its generation to the change. Where the watch has
/// ended with its connection, or the change was lost, the look is taken anew: a namesake has another
/// generation, and to change the same one twice does no harm.
void change_watched(session& with, const std::string& key, const std::string& generation,
                    const std::string& change) {
  request changing{{key, 0}, encode({"MULTI"}) + change + encode({"EXEC"}), 3, false};
  changing.continues = true;
  for (unsigned outages = 0;;) {
    if (watch_generation(with, key) != generation) {
      (void)send(with, {key, 0}, encode({"UNWATCH"}), 1);
      return;
    }
    const answer a = std::move(with.exchange(std::span(&changing, 1)).front());
    if (!a && ++outages == max_outages) throw backend_error(a.error().message);
    if (!a) continue;
    require_no_error(a, key);
    if (!a->back().is_nil()) return;  // nil: the header was changed meanwhile
  }
}

/// @return what the script said; a transaction says nothing
std::int64_t change(session& with, const std::string& key, const std::string& generation,
                    const script& scripted, const std::string& command) {
  const answer a = send(with, {key, 0}, encode({"EVAL", scripted.text, "1", key, generation}), 1);
  if (!a) throw backend_error(a.error().message);
  if (forbids_scripts(a->front())) {
    change_watched(with, key, generation, command);
    return 0;
  }
  if (a->front().text().find("WRONGTYPE") != std::string_view::npos)
    throw damaged_key(key, "has another type");
  require_no_error(a, key);
  return a->front().integer();
}

}  // namespace

tl::expected<bool, outage> begin_header(session& with, const route& to, const std::string& id,
                                        std::span<const std::string> fields) {
  const std::string& key = to.key;
  answer a = send(with, to, encode_with({"EVAL", scripts::begin().text, "1", key, "id", id}, fields), 1);
  const bool forbidden = a && forbids_scripts(a->front());
  if (forbidden) {
    // Renaming fails if the name is taken. The braces keep both names in one slot.
    const std::string draft = "{" + key + "}:" + with.name();
    const auto end = std::ranges::find(fields, "ends_at");
    a = send(
        with, to,
        encode({"MULTI"}) + encode_with({"HSET", draft, "id", id}, fields) +
            (end == fields.end() ? encode({"PERSIST", draft}) : encode({"PEXPIREAT", draft, *(end + 1)})) +
            encode({"RENAMENX", draft, key}) + encode({"UNLINK", draft}) + encode({"HGET", key, "id"}) +
            encode({"EXEC"}),
        7);
  }
  if (!a) return tl::unexpected(a.error());
  require_no_error(a, key);
  const reply& last = a->back();
  if (!forbidden) return last.integer() == 1;
  return last.size() == 5 && last[4].text() == id;
}

bool hide_header(session& with, const std::string& key, const std::string& generation) {
  constexpr std::int64_t moves = 2;
  return change(with, key, generation, scripts::hide(), encode({"HSET", key, "ready", "0"})) != moves;
}

void remove_header(session& with, const std::string& key, const std::string& generation) {
  (void)change(with, key, generation, scripts::remove(), encode({"UNLINK", key}));
}

}  // namespace everseen::redis
