#include "everseen/redis/admin/filter_directory.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/redis/filter/followed_filter.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/keyspace/staged_key.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/store/link/linked_filter.hpp"
#include "everseen/store/port/filter_admin.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen::redis {

namespace {

/// Attempts while other clients change it.
constexpr int most_change_attempts = 100;
constexpr std::size_t partitions_at_once = 256;

/// An attached filter has no other keys here.
void make_header_permanent(server_connections& connections, const filter_keys& f) {
  (void)ask_about(connections, {f.header(), 0}, {"PERSIST", f.header()});
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

bool filter_directory::has_expired(server_connections& connections, const image::filter_id& id) const {
  const filter_keys keys(prefix_, id);
  return have_expired(connections, std::span(&keys, 1)).front();
}

std::optional<image::filter_id> filter_directory::find(server_connections& connections,
                                                       std::string_view name) const {
  const auto id = names_.find(connections, name);
  return id && !has_expired(connections, *id) ? id : std::nullopt;
}

/// Moves the expired filters out of these.
name_index::entries filter_directory::take_expired(server_connections& connections,
                                                   name_index::entries& from) const {
  name_index::entries expired;
  std::vector<filter_keys> keys;
  for (const auto& [name, id] : from) keys.emplace_back(prefix_, id);
  auto found = from.begin();
  for (const bool has_expired : have_expired(connections, keys)) {
    const auto one = found++;
    if (has_expired) expired.insert(from.extract(one));
  }
  return expired;
}

std::vector<std::string> filter_directory::names(server_connections& connections) const {
  name_index::entries all = names_.all(connections);
  (void)take_expired(connections, all);
  std::vector<std::string> names;
  for (const auto& [name, id] : all) names.push_back(name);
  return names;
}

filter_identity filter_directory::create(server_connections& connections, std::string_view name,
                                         const spec& s, std::optional<std::chrono::milliseconds> life) const {
  if (has(connections, name)) throw filter_exists(name);
  const filter_identity made = draft(s);
  std::optional<event_time> end;
  if (life) end = end_after(server_time(connections, made.keys.header()), *life);
  prepare(connections, made, {}, {.spec = s, .expires_at = end});
  publish(connections, name, made);
  return made;
}

void filter_directory::attach(server_connections& connections, std::string_view name, attached_record a,
                              std::string instances) const {
  if (has(connections, name)) throw filter_exists(name);
  const filter_identity made = draft({});
  const filter_header h{
      .spec = {}, .servers = servers_, .attached = std::move(a), .instances = std::move(instances)};
  begin_filter_header(connections, made, h);
  take_name(connections, name, made);
  make_header_permanent(connections, made.keys);
}

filter_identity filter_directory::draft(const spec& s) const {
  const image::filter_id id = image::random_filter_id();
  return {{prefix_, id}, s, id};
}

namespace {

/// A server that takes over may lack the newest of what was sent.
storage_error part_is_lost(const std::string& key) {
  return storage_error("a server lost a part of the filter before all of it was there; begin again", 0, key);
}

}  // namespace

void filter_directory::prepare(server_connections& connections, const filter_identity& made,
                               std::span<const partition_state> states, filter_header header) const {
  require_scripts(connections, {made.keys.header(), 0});
  std::vector<script_call> calls;
  for (std::uint32_t p = 0; p < made.spec.partitions; ++p) {
    const partition_state state = states.empty() ? partition_state{} : states[p];
    const std::string key = made.keys.state(p);
    if (made.spec.judge == judge_kind::client || state.slices.empty())
      calls.push_back(first_call(made, p, state));
    else  // writing the values may have taken long
      calls.push_back({&staging_scripts::prolong(), {key, p}, {key}, {std::string(unseen_life_ms)}});
    if (calls.size() < partitions_at_once && p + 1 < made.spec.partitions) continue;
    const std::vector<answer> answers = run_scripts(connections, calls);
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (const std::string& asked = calls[i].destination.key; expect_reply(answers[i], asked).integer() != 1)
        throw part_is_lost(asked);
    calls.clear();
  }
  header.servers = servers_;
  // A filter with a header is complete, so the header expires first.
  begin_filter_header(connections, made, header);
}

void filter_directory::publish(server_connections& connections, std::string_view name,
                               const filter_identity& made) const {
  take_name(connections, name, made);
  try {
    make_permanent(connections, made);
  } catch (const storage_error&) {
    if (!names_.forget(connections, name, made.id, name_index::while_asked::no)) throw;  // it was dropped
    throw part_is_lost(made.keys.header());
  }
}

void filter_directory::take_name(server_connections& connections, std::string_view name,
                                 const filter_identity& made) const {
  make_way(connections, name);
  // Its keys have a time limit. Removing them now could remove a live filter: it may have been given another
  // name meanwhile.
  if (!names_.claim_name(connections, name, made.id)) throw filter_exists(name);
}

/// Its predecessors go first, also one that a rebuild has just let go: keys that are removed must not be
/// asked for. If a rebuild was decided since the look-up, this filter continues to ask it, and so will the
/// successor: then that is the one to be emptied.
void filter_directory::reset(server_connections& connections, std::string_view name) const {
  for (int i = 0; i < most_change_attempts; ++i) {
    const found_filter found = look_up(connections, name, true);
    const filter_identity& f = found.identity;
    const filter_header& h = found.header;
    require_own(name, h, "let that program empty it, or delete its key by hand");
    const job_list jobs(std::string(name), f);
    require_no_jobs(name, jobs.names(connections), "be reset");
    try {
      jobs.remove_leftovers(connections);
      if (h.after && !forget_before(connections, f, *h.after, random_name())) continue;
      removal_.finish(connections);
      for (std::uint32_t p = 0; p < f.spec.partitions; ++p) empty_partition(connections, f, p);
      return;
    } catch (const backend_error& e) {
      throw backend_error(quoted_name(name) +
                          " may be reset in part; reset it again once all servers answer (" + e.what() + ")");
    }
  }
  throw changes_too_fast(name);
}

void filter_directory::require_here(std::string_view name, std::size_t servers) const {
  if (!removal_.lies_elsewhere(servers)) return;
  throw parameter_error("the filter " + quoted_name(name) + " is spread over " + std::to_string(servers) +
                        (servers == 1 ? " server" : " servers") + ", and the URL names " +
                        std::to_string(servers_) + "; name all of them, in any order");
}

found_filter filter_directory::look_up(server_connections& connections, std::string_view name,
                                       bool to_write) const {
  for (int i = 0; i < most_change_attempts; ++i) {
    const auto id = names_.find(connections, name);
    if (!id) throw no_such_filter(name);
    filter_identity f{{prefix_, *id}, {}, *id};
    const auto h = read_filter_header(connections, f);
    if (!h && names_.find(connections, name) != id) continue;  // it was dropped or rebuilt just now
    if (!h) throw damaged_key(f.keys.header(), "is missing");
    if (h->has_expired()) throw filter_has_expired(name);
    require_here(name, h->servers);
    f.spec = h->spec;
    if (!to_write) return {f, *h};
    if (!h->is_permanent)
      h->attached ? make_header_permanent(connections, f.keys) : make_permanent(connections, f);
    if (h->after) (void)asked_before(connections, f, sealing::yes);
    if (!h->next || put_in_place(connections, f, *h->next) == placing::unmade) return {f, *h};
  }
  throw changes_too_fast(name);
}

/// A drop that was interrupted has removed the name, and is finished by the next.
void filter_directory::drop(server_connections& connections, std::string_view name) const {
  for (int i = 0; i < most_change_attempts; ++i) {
    const auto id = find(connections, name);
    if (!id) {
      removal_.finish(connections);
      throw no_such_filter(name);
    }
    require_here(name, servers_of(connections, keys_of(*id)));
    make_way_of_asker(connections, name);
    require_unasked(links().all(connections), name);
    // It may have been rebuilt, renamed or linked just now.
    if (!names_.forget(connections, name, *id, name_index::while_asked::no)) continue;
    return removal_.finish_after(connections, quoted_name(name) + " is dropped");
  }
  throw changes_too_fast(name);
}

/// An expired filter no longer asks another one.
void filter_directory::make_way_of_asker(server_connections& connections, std::string_view name) const {
  if (const std::string asker = asker_of(links().all(connections), name); !asker.empty())
    make_way(connections, asker);
}

/// A linked filter must keep its name.
void filter_directory::require_unlinked(server_connections& connections, std::string_view name) const {
  make_way_of_asker(connections, name);
  everseen::require_unlinked(links().all(connections), name);
}

void filter_directory::rename(server_connections& connections, std::string_view from,
                              std::string_view new_name, bool replace) const {
  for (int i = 0; i < most_change_attempts; ++i) {
    const auto id = find(connections, from);
    if (!id) throw no_such_filter(from);
    make_way(connections, new_name);
    const auto there = names_.find(connections, new_name);
    if (there && !replace) throw filter_exists(new_name);
    if (from == new_name) return;
    require_unlinked(connections, from);
    require_unlinked(connections, new_name);
    if (there) require_here(new_name, servers_of(connections, keys_of(*there)));
    if (names_.move(connections, from, new_name, *id, there) != name_index::moved::done)
      continue;  // look again
    if (there) removal_.finish_after(connections, quoted_name(new_name) + " is replaced");
    return;
  }
  throw changes_too_fast(from);
}

void filter_directory::remove_expired(server_connections& connections) const {
  auto [all, left] = names_.all_and_left(connections);
  const name_index::entries expired = take_expired(connections, all);
  for (const auto& [name, id] : expired)
    (void)names_.forget(connections, name, id, name_index::while_asked::yes);
  if (!expired.empty() || !left.empty()) removal_.finish(connections);
}

void filter_directory::make_way(server_connections& connections, std::string_view name) const {
  const auto id = names_.find(connections, name);
  if (id && has_expired(connections, *id)) remove(connections, name, *id);
}

/// The name first: from then on no client finds the filter, and those that have it open get an error on their
/// next batch.
void filter_directory::remove(server_connections& connections, std::string_view name,
                              const image::filter_id& id) const {
  (void)names_.forget(connections, name, id, name_index::while_asked::yes);
  removal_.finish(connections);
}

namespace {

void require_own(std::string_view older, std::string_view newer, const found_filter& f) {
  if (f.header.attached && older != newer)
    throw parameter_error(quoted_name(newer) +
                          " is another program's; link an attached filter to one of everseen's own, as in: "
                          "everseen link " +
                          std::string(newer) + " " + std::string(older));
}

void require_jobless(server_connections& connections, std::string_view name, const found_filter& f) {
  everseen::require_no_jobs(name, job_list(std::string(name), f.identity).names(connections),
                            "ask an older one first");
}

}  // namespace

void filter_directory::link(server_connections& connections, std::string_view older, std::string_view newer,
                            std::optional<std::chrono::milliseconds> life) const {
  const found_filter old = look_up(connections, older, false);
  const found_filter current = look_up(connections, newer, false);
  require_own(older, newer, current);
  require_jobless(connections, newer, current);
  const link_hash all = links();
  require_linkable(all.all(connections), {older, old.identity.spec}, {newer, current.identity.spec});
  const image::filter_id id = current.identity.id;
  const auto until = end_of_link(server_time(connections, all.key()), life);
  if (!all.put(connections, {std::string(newer), {std::string(older), until}}, id, old.identity.id))
    throw parameter_error(
        "one of the filters was dropped, linked or renamed by another client meanwhile; check, and try "
        "again");
  // If a link and a job are created concurrently, each writes its own entry before it looks for the other's,
  // so at least one finds the other.
  try {
    require_jobless(connections, newer, current);
  } catch (const parameter_error&) {
    all.forget(connections, newer, id);
    throw;
  }
}

void filter_directory::unlink(server_connections& connections, std::string_view newer) const {
  const image::filter_id id = open(connections, newer, false).id;
  if (!asked_first(links().all(connections), newer)) refuse_unlinked(newer);
  links().forget(connections, newer, id);
}

}  // namespace everseen::redis
