#include "everseen/redis/admin/filter_directory.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/redis/filter/draft_scripts.hpp"
#include "everseen/redis/filter/followed_filter.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/keyspace/segment_list.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/link/linking.hpp"
#include "everseen/store/port/filter_admin.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen::redis {

namespace {

/// Attempts while other clients change it.
constexpr int most_change_attempts = 100;
constexpr std::size_t partitions_at_once = 256;

/// An attached filter has no other keys here.
void make_header_permanent(session& with, const filter_keys& f) {
  (void)ask_about(with, {f.header(), 0}, {"PERSIST", f.header()});
}

/// If a step fails because servers are down, the error says what it leaves behind.
template <typename Step>
void half_done_as(const std::string& what_is_left, Step step) {
  try {
    step();
  } catch (const backend_error& e) {
    throw backend_error(what_is_left + " (" + e.what() + ")");
  }
}

storage_error changes_too_fast(std::string_view name) {
  return storage_error(
      quoted_name(name) + " is repeatedly rebuilt, renamed or created again by other clients", 0, {});
}

}  // namespace

void require_own(std::string_view name, const filter_header& h, std::string_view instead) {
  if (h.attached)
    throw parameter_error(quoted_name(name) + " is attached: its bits are another program's; " +
                          std::string(instead));
}

bool filter_directory::has_expired(session& with, const image::filter_id& id) const {
  const filter_keys keys(prefix_, id);
  return have_expired(with, std::span(&keys, 1)).front();
}

std::optional<image::filter_id> filter_directory::find(session& with, std::string_view name) const {
  const auto id = names_.find(with, name);
  return id && !has_expired(with, *id) ? id : std::nullopt;
}

bool filter_directory::lists(session& with, std::string_view name) const {
  return names_.find(with, name).has_value();
}

/// Moves the expired filters out of these.
name_index::entries filter_directory::take_expired(session& with, name_index::entries& from) const {
  name_index::entries expired;
  std::vector<filter_keys> keys;
  for (const auto& [name, id] : from) keys.emplace_back(prefix_, id);
  auto at = from.begin();
  for (const bool has_expired : have_expired(with, keys)) {
    const auto one = at++;
    if (has_expired) expired.insert(from.extract(one));
  }
  return expired;
}

std::vector<std::string> filter_directory::names(session& with) const {
  name_index::entries all = names_.all(with);
  (void)take_expired(with, all);
  std::vector<std::string> names;
  for (const auto& [name, id] : all) names.push_back(name);
  return names;
}

filter_identity filter_directory::create(session& with, std::string_view name, const spec& s,
                                         std::optional<std::chrono::milliseconds> life) const {
  if (has(with, name)) throw filter_exists(name);
  const filter_identity made = draft(s);
  std::optional<event_time> end;
  if (life) end = end_after(server_time(with, made.keys.header()), *life);
  prepare(with, made, {}, {.spec = s, .expires_at = end});
  publish(with, name, made);
  return made;
}

void filter_directory::attach(session& with, std::string_view name, const attachment& a,
                              std::string instances) const {
  if (has(with, name)) throw filter_exists(name);
  const filter_identity made = draft(spec_of(a));
  const filter_header h{
      .spec = made.spec, .servers = servers_, .attached = a, .instances = std::move(instances)};
  begin_filter_header(with, made, h);
  take_name(with, name, made);
  make_header_permanent(with, made.keys);
}

filter_identity filter_directory::draft(const spec& s) const {
  const image::filter_id id = image::random_filter_id();
  return {{prefix_, id}, s, id};
}

void filter_directory::prepare(session& with, const filter_identity& made,
                               std::span<const partition_state> states, filter_header how) const {
  require_scripts(with, {made.keys.header(), 0});
  std::vector<script_call> begin, prolong;
  const auto prolong_all = [&] {
    for (const answer& a : run_scripts(with, std::exchange(prolong, {})))
      if (expect_reply(a, made.keys.header()).integer() != 1)
        throw storage_error("segments of the filter expired before it was complete; begin again", 0,
                            made.keys.header());
  };
  const bool by_clients = made.spec.judge == judge_kind::client;
  const auto prolong_soon = [&](const std::string& key, std::uint32_t partition) {
    if (prolong.size() == partitions_at_once) prolong_all();
    prolong.push_back({&draft_scripts::prolong(), {key, partition}, {key}, {std::string(unseen_life_ms)}});
  };
  for (std::uint32_t p = 0; p < made.spec.partitions; ++p) {
    const partition_state state = states.empty() ? partition_state{} : states[p];
    // Writing the bits may have taken long, so the limits of their keys are extended.
    if (by_clients)
      for (const announced_filter::segment& s : segments_of(p, state.slices))
        prolong_soon(made.keys.segment(s.id), p);
    else if (!state.slices.empty())
      prolong_soon(made.keys.state(p), p);
    if (by_clients || state.slices.empty()) begin.push_back(first_call(made, p, state));
    if (begin.size() < partitions_at_once && p + 1 < made.spec.partitions) continue;
    for (const answer& a : run_scripts(with, std::exchange(begin, {})))
      (void)expect_reply(a, made.keys.state(p));
  }
  prolong_all();
  how.servers = servers_;
  // A filter with a header is complete, so the header expires first.
  begin_filter_header(with, made, how);
}

void filter_directory::publish(session& with, std::string_view name, const filter_identity& made) const {
  take_name(with, name, made);
  make_permanent(with, made);
}

void filter_directory::take_name(session& with, std::string_view name, const filter_identity& made) const {
  make_way(with, name);
  // Its keys have a time limit. Removing them now could remove a live filter: it may have been given another
  // name meanwhile.
  if (!names_.take(with, name, made.id)) throw filter_exists(name);
}

/// Its predecessor goes first: keys that are removed must not be asked for.
void filter_directory::reset(session& with, std::string_view name) const {
  const found_filter found = look_up(with, name, true);
  const filter_identity& f = found.identity;
  const filter_header& h = found.header;
  require_own(name, h, "let that program empty it, or delete its key by hand");
  const job_list jobs(std::string(name), f);
  require_no_jobs(name, jobs.names(with), "be reset");
  half_done_as(quoted_name(name) + " may be reset in part; reset it again once all servers answer", [&] {
    jobs.remove_leftovers(with);
    if (h.after) {
      (void)forget_before(with, f, *h.after, random_name());
      finish_removals(with);
    }
    for (std::uint32_t p = 0; p < f.spec.partitions; ++p) empty_partition(with, f, p);
  });
}

void filter_directory::require_here(std::string_view name, std::size_t servers) const {
  if (!lies_elsewhere(servers)) return;
  throw parameter_error("the filter " + quoted_name(name) + " is spread over " + std::to_string(servers) +
                        (servers == 1 ? " server" : " servers") + ", and the URL names " +
                        std::to_string(servers_) + "; name all of them, in any order");
}

found_filter filter_directory::look_up(session& with, std::string_view name, bool to_write) const {
  for (int i = 0; i < most_change_attempts; ++i) {
    const auto id = names_.find(with, name);
    if (!id) throw no_such_filter(name);
    filter_identity f{{prefix_, *id}, {}, *id};
    const auto h = read_filter_header(with, f);
    if (!h && names_.find(with, name) != id) continue;  // it was dropped or rebuilt just now
    if (!h) throw damaged_key(f.keys.header(), "is missing");
    if (h->has_expired()) throw filter_has_expired(name);
    require_here(name, h->servers);
    f.spec = h->spec;
    if (!to_write) return {f, *h};
    if (!h->is_permanent) h->attached ? make_header_permanent(with, f.keys) : make_permanent(with, f);
    if (h->after) (void)asked_before(with, f, sealing::yes);
    if (!h->next || put_in_place(with, f, *h->next) == placing::unmade) return {f, *h};
  }
  throw changes_too_fast(name);
}

void filter_directory::drop(session& with, std::string_view name) const {
  finish_removals(with);
  for (int i = 0; i < most_change_attempts; ++i) {
    const auto id = find(with, name);
    if (!id) throw no_such_filter(name);
    require_here(name, servers_of(with, keys_of(*id)));
    make_way_of_asker(with, name);
    require_unasked(links().all(with), name);
    // It may have been rebuilt, renamed or linked just now.
    if (!names_.forget(with, name, *id, name_index::while_asked::no)) continue;
    return half_done_as(
        quoted_name(name) +
            " is dropped, but not all of its keys are removed; the next drop removes the rest, "
            "once all servers answer",
        [&] { finish_removals(with); });
  }
  throw changes_too_fast(name);
}

/// An expired filter no longer asks another one.
void filter_directory::make_way_of_asker(session& with, std::string_view name) const {
  if (const std::string by = asker_of(links().all(with), name); !by.empty()) make_way(with, by);
}

/// A linked filter must keep its name.
void filter_directory::require_unlinked(session& with, std::string_view name) const {
  make_way_of_asker(with, name);
  everseen::require_unlinked(links().all(with), name);
}

void filter_directory::rename(session& with, std::string_view from, std::string_view to, bool replace) const {
  for (int i = 0; i < most_change_attempts; ++i) {
    const auto id = find(with, from);
    if (!id) throw no_such_filter(from);
    make_way(with, to);
    const auto there = names_.find(with, to);
    if (there && !replace) throw filter_exists(to);
    if (from == to) return;
    require_unlinked(with, from);
    require_unlinked(with, to);
    if (there) require_here(to, servers_of(with, keys_of(*there)));
    if (names_.move(with, from, to, *id, there) != name_index::moved::done) continue;  // look again
    if (there) finish_removals(with);
    return;
  }
  throw changes_too_fast(from);
}

namespace {

/// The number of rounds of removals, each of which may lead to others.
constexpr int most_rounds = 100;

/// Removes as much of a filter as can be found: damage must not prevent the removal of the rest.    @return
/// false  something is damaged, or gone
template <typename Step>
bool unless_damaged(Step step) {
  try {
    step();
    return true;
  } catch (const backend_error&) {
    throw;
  } catch (const error&) {
    return false;
  }
}

}  // namespace

void filter_directory::remove_expired(session& with) const {
  auto [all, left] = names_.all_and_left(with);
  const name_index::entries expired = take_expired(with, all);
  for (const auto& [name, id] : expired) (void)names_.forget(with, name, id, name_index::while_asked::yes);
  if (!expired.empty() || !left.empty()) finish_removals(with);
}

void filter_directory::make_way(session& with, std::string_view name) const {
  const auto id = names_.find(with, name);
  if (id && has_expired(with, *id)) remove(with, name, *id);
}

/// The name first: from then on no client finds the filter, and those that have it open get an error on their
/// next batch.
void filter_directory::remove(session& with, std::string_view name, const image::filter_id& id) const {
  (void)names_.forget(with, name, id, name_index::while_asked::yes);
  finish_removals(with);
}

/// A filter that asks a kept one may itself be removed; then the kept one must go too.
void filter_directory::finish_removals(session& with) const {
  for (int i = 0; i < most_rounds; ++i) {
    const name_index::leftovers left = names_.left(with);
    bool is_done = true;
    for (const auto& [id, by] : left.kept) {
      if (asks_before(with, {prefix_, by}) == id) continue;
      names_.release(with, id);
      is_done = false;
    }
    for (const image::filter_id& id : left.being_removed) {
      if (!remove_keys(with, id)) continue;
      names_.note_removed(with, id);
      is_done = false;
    }
    if (is_done) return;
  }
}

/// Whether neither a name leads to the filter nor another filter asks it.
bool filter_directory::is_unknown(session& with, const image::filter_id& id) const {
  return !names_.leads_to(with, id) &&
         std::ranges::none_of(names_.left(with).kept, [&](const auto& entry) { return entry.first == id; });
}

/// The header is removed last, on its own: without it, the filter's keys could not be found.
/// @return false  only a client whose URL names its servers can remove it
bool filter_directory::remove_keys(session& with, const image::filter_id& id) const {
  const filter_keys keys(prefix_, id);
  const std::string header = keys.header();
  filter_identity f{keys, {}, id};
  std::optional<reply> fields;
  const bool is_known = unless_damaged([&] {
    fields = ask_about(with, {header, 0}, {"HMGET", header, "spec", "next", "attached"});
    if ((*fields)[2].is_nil()) f.spec = image::decode_spec(std::as_bytes(std::span((*fields)[0].text())));
  });
  if (!is_known) return true;  // its keys cannot be determined
  if (lies_elsewhere(servers_of(with, keys))) return false;
  if (!(*fields)[2].is_nil()) {  // it has no other keys
    (void)ask_about(with, {header, 0}, {"UNLINK", header});
    return true;
  }
  (void)unless_damaged([&] { job_list({}, f).end_all(with); });
  // The client that began to rebuild it crashed before the successor could be found.
  (void)unless_damaged([&] {
    if (const auto by = id_in_field((*fields)[1], header); by && is_unknown(with, *by))
      (void)remove_keys(with, *by);
  });
  // Sealed first, so that no client creates another string.
  (void)unless_damaged([&] { (void)seal(with, f, id); });
  std::vector<request> requests;
  const auto unlink = [&](const std::string& key, std::uint32_t partition) {
    requests.push_back({{key, partition}, encode({"UNLINK", key}), 1, true});
  };
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    (void)unless_damaged([&] {
      for (const std::string& key : keys_beside(with, f, p)) unlink(key, p);
    });
    unlink(keys.state(p), p);
  }
  unlink(job_keys::list(f.keys), 0);
  unlink(job_keys::gone(f.keys), 0);
  (void)exchange_all(with, requests);
  requests.clear();
  unlink(header, 0);
  (void)exchange_all(with, requests);
  return true;
}

namespace {

void require_own(std::string_view older, std::string_view newer, const found_filter& f) {
  if (f.header.attached && older != newer)
    throw parameter_error(quoted_name(newer) +
                          " is another program's; link an attached filter to one of everseen's own, as in: "
                          "everseen link " +
                          std::string(newer) + " " + std::string(older));
}

void require_jobless(session& with, std::string_view name, const found_filter& f) {
  everseen::require_no_jobs(name, job_list(std::string(name), f.identity).names(with),
                            "ask an older one first");
}

}  // namespace

void filter_directory::link(session& with, std::string_view older, std::string_view newer,
                            std::optional<std::chrono::milliseconds> life) const {
  const found_filter old = look_up(with, older, false);
  const found_filter now = look_up(with, newer, false);
  require_own(older, newer, now);
  require_jobless(with, newer, now);
  const link_hash all = links();
  require_linkable(all.all(with), {older, old.identity.spec}, {newer, now.identity.spec});
  const image::filter_id id = now.identity.id;
  const auto until = end_of_link(server_time(with, all.key()), life);
  if (!all.put(with, {std::string(newer), {std::string(older), until}}, id, old.identity.id))
    throw parameter_error(
        "one of the filters was dropped, linked or renamed by another client meanwhile; check, and try "
        "again");
  // If a link and a job are created concurrently, each writes its own entry before it looks for the other's,
  // so at least one finds the other.
  try {
    require_jobless(with, newer, now);
  } catch (const parameter_error&) {
    all.forget(with, newer, id);
    throw;
  }
}

void filter_directory::unlink(session& with, std::string_view newer) const {
  const image::filter_id id = open(with, newer, false).id;
  if (!asked_first(links().all(with), newer)) refuse_unlinked(newer);
  links().forget(with, newer, id);
}

}  // namespace everseen::redis
