#include "everseen/redis/linking.hpp"

#include <string>

#include "everseen/redis/jobs.hpp"
#include "everseen/redis/upkeep.hpp"
#include "everseen/store/linking.hpp"

namespace everseen::redis {

namespace {

std::string id_text(const remote_filter& f) {
  return {reinterpret_cast<const char*>(f.id.data()), f.id.size()};
}

std::string old_name(const header& h) {
  return h.linked ? h.linked->name : "";
}

bool is_over(session& with, const header& h) {
  return h.linked->until && h.linked->is_over(catalogue::server_time(with, h.live.keys.header()));
}

/// Which filter asks this one first now; empty: none. One that is damaged can ask nobody.
std::string asked_by(session& with, const catalogue& names, const header& h) {
  if (h.linked_by.empty() || !names.is_ready(with, h.linked_by)) return {};
  try {
    const header newer = names.read_header(with, h.linked_by);
    const bool asks = newer.linked && newer.linked->name == h.live.keys.name() && !is_over(with, newer);
    return asks ? h.linked_by : "";
  } catch (const format_error&) {
    return {};
  }
}

link_facts facts_of(session& with, const catalogue& names, const header& h) {
  const bool asks = h.linked && !is_over(with, h);
  return {h.live.keys.name(), h.live.spec.window.has_value(), asks ? h.linked->name : "",
          asked_by(with, names, h)};
}

void require_own(const header& older, const header& newer) {
  const std::string& old = older.live.keys.name();
  const std::string& now = newer.live.keys.name();
  if (newer.attached && old != now)
    throw parameter_error("'" + now +
                          "' is another program's; link an attached filter to one of everseen's own, as in: "
                          "everseen link " +
                          now + " " + old);
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
  require_own(old, now);
  require_no_jobs(with, now, "ask an older one first");
  require_linkable(facts_of(with, names, old), facts_of(with, names, now));
  const std::string key = now.live.keys.header();
  const auto end = end_of_link(catalogue::server_time(with, key), life);
  const std::string until = end ? to_text(*end) : "";
  const auto as_it_is = [](const header& h) {
    return header_fields{{"id", id_text(h.live)}, {"ready", std::string(ready)}, {"moves_to", ""}};
  };
  // Neither may have been linked meanwhile, in either place: the older one would ask another, or the newer
  // one be asked, and there is no chain.
  header_fields if_old = as_it_is(old);
  header_fields if_new = as_it_is(now);
  if_old.insert(if_old.end(), {{"link", old_name(old)}, {"linked_by", old.linked_by}});
  if_new.insert(if_new.end(), {{"link", old_name(now)}, {"linked_by", now.linked_by}, {"jobs", ""}});
  // The older one first: from then on it is not dropped.
  if (!change_header(with, old.live.keys.header(), if_old, {{"linked_by", std::string(newer)}}) ||
      !change_header(with, key, if_new, {{"link", std::string(older)}, {"link_until", until}}))
    throw parameter_error(
        "one of the filters was dropped, linked or renamed by somebody else meanwhile; look, and try again");
  // Two links at once that would make a chain: each has written its own before it looks for the other's, so
  // one of them finds it, or both.
  try {
    require_linkable(facts_of(with, names, names.read_header(with, older)),
                     facts_of(with, names, names.read_header(with, newer)));
  } catch (const parameter_error&) {
    take_back(with, names, now, older);
    throw;
  }
}

void unlink(session& with, const catalogue& names, std::string_view newer) {
  const header h = names.read_header(with, newer);
  if (!h.linked) refuse_unlinked(newer);
  take_back(with, names, h, h.linked->name);
}

void require_alone(session& with, const catalogue& names, const header& h) {
  everseen::require_unlinked(facts_of(with, names, h));
}

void require_unlinked(session& with, const catalogue& names, const header& h) {
  require_unasked(h.live.keys.name(), asked_by(with, names, h));
}

}  // namespace everseen::redis
