#include "everseen/redis/linking.hpp"

#include <string>

#include "everseen/redis/upkeep.hpp"

namespace everseen::redis {

namespace {

std::string id_text(const remote_filter& f) {
  return {reinterpret_cast<const char*>(f.id.data()), f.id.size()};
}

std::string quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

std::string old_name(const header& h) {
  return h.linked ? h.linked->older : "";
}

bool is_over(session& with, const header& h) {
  return h.linked->until && *h.linked->until <= catalogue::server_time(with, h.live.keys.header());
}

/// Which filter asks this one first now; empty: none. One that is damaged can ask nobody.
std::string asked_by(session& with, const catalogue& names, const header& h) {
  if (h.linked_by.empty() || !names.is_ready(with, h.linked_by)) return {};
  try {
    const header newer = names.read_header(with, h.linked_by);
    const bool asks = newer.linked && newer.linked->older == h.live.keys.name() && !is_over(with, newer);
    return asks ? h.linked_by : "";
  } catch (const format_error&) {
    return {};
  }
}

void require_linkable(session& with, const catalogue& names, const header& older, const header& newer) {
  const std::string old = quoted(older.live.keys.name());
  const std::string now = quoted(newer.live.keys.name());
  if (older.live.keys.name() == newer.live.keys.name())
    throw parameter_error("a filter cannot be linked to itself; name the old one and then the new one");
  if (newer.attached)
    throw parameter_error(now +
                          " is another program's; link an attached filter to one of everseen's own, as in: "
                          "everseen link " +
                          newer.live.keys.name() + " " + older.live.keys.name());
  if (older.linked && !is_over(with, older))
    throw parameter_error(old + " itself asks '" + older.linked->older +
                          "' first; only one older filter is asked");
  if (newer.linked && newer.linked->older != older.live.keys.name() && !is_over(with, newer))
    throw parameter_error(now + " asks '" + newer.linked->older +
                          "' first; end that with: everseen link --off " + newer.live.keys.name());
  if (const std::string by = asked_by(with, names, newer); !by.empty())
    throw parameter_error(now + " is asked by '" + by + "'; only one older filter is asked");
  if (const std::string by = asked_by(with, names, older); !by.empty() && by != newer.live.keys.name())
    throw parameter_error(old + " is asked by '" + by + "' already; end that with: everseen link --off " +
                          by);
  if (older.live.spec.window && !newer.live.spec.window)
    throw parameter_error(old + " has a window and " + now +
                          " has none, so that keys would come without their time");
}

void take_back(session& with, const catalogue& names, const header& newer, std::string_view older) {
  (void)change_header(with, newer.live.keys.header(),
                      {{"id", id_text(newer.live)}, {"link", std::string(older)}},
                      {{"link", ""}, {"link_until", ""}});
  (void)change_header(with, names.keys_of(older).header(), {{"linked_by", newer.live.keys.name()}},
                      {{"linked_by", ""}});
}

}  // namespace

void link(session& with, const catalogue& names, std::string_view older, std::string_view newer,
          std::optional<std::chrono::milliseconds> life) {
  const header old = names.read_header(with, older);
  const header now = names.read_header(with, newer);
  require_linkable(with, names, old, now);
  const std::string key = now.live.keys.header();
  const std::string until = life ? to_text(catalogue::server_time(with, key) + *life) : "";
  const auto as_it_is = [](const header& h) {
    return header_fields{{"id", id_text(h.live)}, {"ready", std::string(ready)}};
  };
  // Neither may have been linked meanwhile, in either place: the older one would ask another, or the newer
  // one be asked, and there is no chain.
  header_fields if_old = as_it_is(old);
  header_fields if_new = as_it_is(now);
  if_old.insert(if_old.end(), {{"link", old_name(old)}, {"linked_by", old.linked_by}});
  if_new.insert(if_new.end(), {{"link", old_name(now)}, {"linked_by", now.linked_by}});
  // The older one first: from then on it is not dropped.
  if (!change_header(with, old.live.keys.header(), if_old, {{"linked_by", std::string(newer)}}) ||
      !change_header(with, key, if_new, {{"link", std::string(older)}, {"link_until", until}}))
    throw parameter_error(
        "one of the filters was dropped or linked by somebody else meanwhile; look, and try again");
  // Two links at once that would make a chain: each has written its own before it looks for the other's, so
  // one of them finds it, or both.
  try {
    require_linkable(with, names, names.read_header(with, older), names.read_header(with, newer));
  } catch (const parameter_error&) {
    take_back(with, names, now, older);
    throw;
  }
}

void unlink(session& with, const catalogue& names, std::string_view newer) {
  const header h = names.read_header(with, newer);
  if (!h.linked) throw parameter_error(quoted(newer) + " is linked to no filter");
  take_back(with, names, h, h.linked->older);
}

void require_unlinked(session& with, const catalogue& names, const header& h) {
  if (const std::string by = asked_by(with, names, h); !by.empty())
    throw parameter_error(quoted(by) + " asks " + quoted(h.live.keys.name()) +
                          " first; end that with: everseen link --off " + by);
}

}  // namespace everseen::redis
