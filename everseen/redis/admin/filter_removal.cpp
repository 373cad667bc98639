#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/filter/succession.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/stored_id.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

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

}  // namespace everseen::redis
