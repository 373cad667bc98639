#include "everseen/redis/admin/filter_removal.hpp"

#include <optional>
#include <span>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
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

/// A filter that asks a kept one may itself be removed; then the kept one must go too.
bool filter_removal::remove_more(server_connections& connections) const {
  const name_index::leftovers left = names_.left(connections);
  bool found = false;
  for (const auto& [id, asker] : left.kept) {
    if (still_asks(connections, asker, id)) continue;
    names_.release(connections, id);
    found = true;
  }
  for (const image::filter_id& id : left.being_removed) {
    if (!remove_keys(connections, id)) continue;
    names_.note_removed(connections, id);
    found = true;
  }
  return found;
}

void filter_removal::finish(server_connections& connections) const {
  for (int i = 0; i < most_rounds && remove_more(connections); ++i) {
  }
}

void filter_removal::finish_after(server_connections& connections, const std::string& done) const {
  try {
    finish(connections);
  } catch (const backend_error& e) {
    throw backend_error(
        done +
        ", but not all of its former keys are removed; the next drop removes the rest, once all "
        "servers answer (" +
        e.what() + ")");
  }
}

/// Whether neither a name leads to the filter nor another filter asks it.
bool filter_removal::is_unknown(server_connections& connections, const image::filter_id& id) const {
  return !names_.leads_to(connections, id) && !names_.left(connections).keeps(id);
}

/// If the header of a filter in use is lost, what it asks must be kept, too.
bool filter_removal::still_asks(server_connections& connections, const image::filter_id& asker,
                                const image::filter_id& kept) const {
  std::optional<filter_header> h;
  (void)unless_damaged([&] { h = read_filter_header(connections, {{prefix_, asker}, {}, asker}); });
  return h ? h->after == kept : !is_unknown(connections, asker);
}

/// The jobs end when the states are gone: then no client can begin another one or claim, and none that
/// settles finds its job on the list. The header is removed last, with the list: without it, the filter's
/// keys could not be found, and as long as it exists, a client may put a job on the list.
/// @return false  only a client whose URL names its servers can remove it
bool filter_removal::remove_keys(server_connections& connections, const image::filter_id& id) const {
  const filter_keys keys(prefix_, id);
  const std::string header = keys.header();
  filter_identity f{keys, {}, id};
  std::optional<reply> fields;
  const bool is_known = unless_damaged([&] {
    fields = ask_about(connections, {header, 0}, {"HMGET", header, "spec", "next", "attached"});
    if ((*fields)[2].is_nil()) f.spec = image::decode_spec(std::as_bytes(std::span((*fields)[0].text())));
  });
  if (!is_known) return true;  // its keys cannot be determined
  if (lies_elsewhere(servers_of(connections, keys))) return false;
  if (!(*fields)[2].is_nil()) {  // it has no other keys
    (void)ask_about(connections, {header, 0}, {"UNLINK", header});
    return true;
  }
  // The client that began to rebuild it crashed before the successor could be found.
  (void)unless_damaged([&] {
    if (const auto asker = id_in_field((*fields)[1], header); asker && is_unknown(connections, *asker))
      (void)remove_keys(connections, *asker);
  });
  // Sealed first, so that no client creates another string.
  (void)unless_damaged([&] { (void)seal(connections, f, id); });
  std::vector<request> requests;
  const auto unlink = [&](const std::string& key, std::uint32_t partition) {
    requests.push_back({{key, partition}, encode({"UNLINK", key}), 1, true});
  };
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    (void)unless_damaged([&] {
      for (const std::string& key : keys_beside(connections, f, p)) unlink(key, p);
    });
    unlink(keys.state(p), p);
  }
  (void)exchange_all(connections, requests);
  (void)unless_damaged([&] { job_list({}, f).end_all(connections); });
  (void)ask_about(connections, {header, 0},
                  {"UNLINK", job_keys::list(f.keys), job_keys::gone(f.keys), header});
  return true;
}

}  // namespace everseen::redis
