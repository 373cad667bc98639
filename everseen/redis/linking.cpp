#include "everseen/redis/linking.hpp"

#include <optional>
#include <string>
#include <vector>

#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/jobs.hpp"
#include "everseen/redis/ledger/job_list.hpp"
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

std::string prefix_of(const catalogue& names) {
  std::string header = names.keys_of("x").header();
  header.resize(header.size() - 2);
  return header;
}

filter_directory directory_of(const catalogue& names) {
  return filter_directory(prefix_of(names));
}

/// Which filter asks this one first now, by what the headers say; empty: none. One that is damaged can ask
/// nobody.
std::string asked_by_header(session& with, const catalogue& names, const header& h) {
  if (h.linked_by.empty() || !names.is_ready(with, h.linked_by)) return {};
  try {
    const header newer = names.read_header(with, h.linked_by);
    const bool asks = newer.linked && newer.linked->name == h.live.keys.name() && !is_over(with, newer);
    return asks ? h.linked_by : "";
  } catch (const format_error&) {
    return {};
  }
}

/// Whether the filter that asks another one is still there.
bool is_live(session& with, const catalogue& names, const stored_link& l) {
  if (directory_of(names).find(with, l.newer) == l.id) return true;
  if (!names.is_ready(with, l.newer)) return false;
  try {
    const header newer = names.read_header(with, l.newer);
    return newer.live.id == l.id && newer.linked && newer.linked->name == l.older.name;
  } catch (const error&) {
    return false;
  }
}

/// The same by what the hash says.
std::string asked_by_hash(session& with, const catalogue& names, std::string_view name) {
  for (const stored_link& l : links_of(names).all(with))
    if (l.older.name == name && is_live(with, names, l)) return l.newer;
  return {};
}

std::string asked_by(session& with, const catalogue& names, const header& h) {
  std::string by = asked_by_header(with, names, h);
  return by.empty() ? asked_by_hash(with, names, h.live.keys.name()) : by;
}

link_facts facts_of(session& with, const catalogue& names, const header& h) {
  const bool asks = h.linked && !is_over(with, h);
  return {h.live.keys.name(), h.live.spec.window.has_value(), asks ? h.linked->name : "",
          asked_by(with, names, h)};
}

/// One of the two filters of a link, of which its servers or its clients are the judges.
struct party {
  std::string name;
  image::filter_id id{};
  std::optional<header> served{};
  std::optional<filter_identity> mirrored{};
};

party find(session& with, const catalogue& names, std::string_view name) {
  const filter_directory mirrored = directory_of(names);
  if (mirrored.has(with, name)) {
    const filter_identity f = mirrored.open(with, name, false);
    return {.name = std::string(name), .id = f.id, .mirrored = f};
  }
  const header h = names.read_header(with, name);
  return {.name = std::string(name), .id = h.live.id, .served = h};
}

link_facts facts_of(session& with, const catalogue& names, const party& p) {
  if (p.served) return facts_of(with, names, *p.served);
  const auto older = links_of(names).asked_first(with, p.id);
  return {p.name, p.mirrored->spec.window.has_value(), older ? older->name : "",
          asked_by_hash(with, names, p.name)};
}

void require_own(const party& older, const party& newer) {
  if (newer.served && newer.served->attached && older.name != newer.name)
    throw parameter_error("'" + newer.name +
                          "' is another program's; link an attached filter to one of everseen's own, as in: "
                          "everseen link " +
                          newer.name + " " + older.name);
}

void require_no_jobs(session& with, const party& p, std::string_view what) {
  if (p.served) return require_no_jobs(with, *p.served, what);
  std::vector<std::string> jobs;
  for (const auto& [job, kept] : job_list(p.name, *p.mirrored).all(with)) jobs.push_back(job);
  everseen::require_no_jobs(p.name, jobs, what);
}

parameter_error changed_meanwhile() {
  return parameter_error(
      "one of the filters was dropped, linked or renamed by somebody else meanwhile; look, and try again");
}

void take_back(session& with, const catalogue& names, const header& newer, std::string_view older) {
  (void)change_header(with, newer.live.keys.header(),
                      {{"id", id_text(newer.live)}, {"link", std::string(older)}},
                      {{"link", ""}, {"link_until", ""}});
  (void)change_header(with, names.keys_of(older).header(), {{"linked_by", newer.live.keys.name()}},
                      {{"linked_by", ""}});
}

std::optional<event_time> end_of(session& with, const std::string& clock,
                                 std::optional<std::chrono::milliseconds> life) {
  return end_of_link(catalogue::server_time(with, clock), life);
}

header_fields as_it_is(const header& h) {
  return {{"id", id_text(h.live)}, {"ready", std::string(ready)}, {"moves_to", ""}};
}

/// Lets the newer one's header say so.    @return false  it has changed since
bool write_link(session& with, const header& now, std::string_view older, std::optional<event_time> until) {
  header_fields if_new = as_it_is(now);
  if_new.insert(if_new.end(), {{"link", old_name(now)}, {"linked_by", now.linked_by}, {"jobs", ""}});
  return change_header(
      with, now.live.keys.header(), if_new,
      {{"link", std::string(older)}, {"link_until", until ? to_text(*until) : std::string()}});
}

void link_headers(session& with, const header& old, const header& now,
                  std::optional<std::chrono::milliseconds> life) {
  const auto until = end_of(with, now.live.keys.header(), life);
  // Neither may have been linked meanwhile, in either place: the older one would ask another, or the newer
  // one be asked, and there is no chain.
  header_fields if_old = as_it_is(old);
  if_old.insert(if_old.end(), {{"link", old_name(old)}, {"linked_by", old.linked_by}});
  // The older one first: from then on it is not dropped.
  if (!change_header(with, old.live.keys.header(), if_old, {{"linked_by", now.live.keys.name()}}) ||
      !write_link(with, now, old.live.keys.name(), until))
    throw changed_meanwhile();
}

void take_back(session& with, const catalogue& names, const party& newer, std::string_view older) {
  if (newer.served) take_back(with, names, *newer.served, older);
  links_of(names).forget(with, newer.name, newer.id);
}

/// The hash first: from then on the older one is not dropped.
void link_by_hash(session& with, const catalogue& names, const party& old, const party& now,
                  std::optional<std::chrono::milliseconds> life) {
  const link_hash links = links_of(names);
  for (const stored_link& l : links.all(with)) {
    const bool touches =
        l.newer == now.name || l.newer == old.name || l.older.name == old.name || l.older.name == now.name;
    if (touches && !is_live(with, names, l)) links.forget(with, l.newer, l.id);
  }
  const auto until = end_of(with, now.served ? now.served->live.keys.header() : links.key(), life);
  if (!links.put(with, {now.name, now.id, {old.name, until}}, !now.served)) throw changed_meanwhile();
  if (!now.served) return;
  const bool written = write_link(with, *now.served, old.name, until);
  // Who looked in between took the link for one of a filter that is gone.
  if (written && links.put(with, {now.name, now.id, {old.name, until}}, !now.served)) return;
  take_back(with, names, now, old.name);
  throw changed_meanwhile();
}

}  // namespace

link_hash links_of(const catalogue& names) {
  return link_hash(prefix_of(names));
}

void link(session& with, const catalogue& names, std::string_view older, std::string_view newer,
          std::optional<std::chrono::milliseconds> life) {
  const party old = find(with, names, older);
  const party now = find(with, names, newer);
  require_own(old, now);
  require_no_jobs(with, now, "ask an older one first");
  require_linkable(facts_of(with, names, old), facts_of(with, names, now));
  if (old.served && now.served)
    link_headers(with, *old.served, *now.served, life);
  else
    link_by_hash(with, names, old, now, life);
  // Two links at once that would make a chain, or a link and a job: each has written its own before it looks
  // for the other's, so one of them finds it, or both.
  try {
    const party then = find(with, names, newer);
    require_linkable(facts_of(with, names, find(with, names, older)), facts_of(with, names, then));
    require_no_jobs(with, then, "ask an older one first");
  } catch (const parameter_error&) {
    take_back(with, names, now, older);
    throw;
  }
}

void unlink(session& with, const catalogue& names, std::string_view newer) {
  const party now = find(with, names, newer);
  if (now.served) {
    if (!now.served->linked) refuse_unlinked(newer);
    return take_back(with, names, now, now.served->linked->name);
  }
  const auto older = links_of(names).asked_first(with, now.id);
  if (!older) refuse_unlinked(newer);
  take_back(with, names, now, older->name);
}

void require_alone(session& with, const catalogue& names, const header& h) {
  everseen::require_unlinked(facts_of(with, names, h));
}

void require_alone(session& with, const catalogue& names, std::string_view name) {
  everseen::require_unlinked(facts_of(with, names, find(with, names, name)));
}

void require_unlinked(session& with, const catalogue& names, const header& h) {
  everseen::require_unasked(h.live.keys.name(), asked_by(with, names, h));
}

void require_unasked(session& with, const catalogue& names, std::string_view name) {
  everseen::require_unasked(name, asked_by_hash(with, names, name));
}

}  // namespace everseen::redis
