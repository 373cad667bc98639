#include "everseen/redis/filter/followed_filter.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "everseen/core/base/names.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/redis/filter/filter_expiry.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/name_index.hpp"
#include "everseen/store/link/linked_filter.hpp"

namespace everseen::redis {

namespace {

/// A client that missed more rebuilds than this gets an error and must reopen the filter.
constexpr int most_generations = 1000;

/// Whether the failure is about missing or wrong keys on the servers.
bool is_about_keys(const batch_failure& f) noexcept {
  return f.why == batch_failure::cause::storage || f.why == batch_failure::cause::format;
}

/// Whether its name and header exist.
bool is_there(server_connections& connections, const filter_identity& f) {
  return name_index(f.keys.prefix()).leads_to(connections, f.id) && read_filter_header(connections, f);
}

}  // namespace

followed_filter::followed_filter(std::shared_ptr<connection_pool> pool, std::string name,
                                 const filter_identity& f, access mode)
    : generations_(std::move(pool), std::move(name), f, mode) {}

/// If name and header exist but a state does not, that is damage, not a drop: a drop removes the name first.
/// So the states are read before the name.
std::optional<format_error> followed_filter::damage_of(const generation& in) const {
  const filter_identity& f = in.newest->identity();
  const connection_pool::lease connections = generations_.connections();
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    const std::string key = f.keys.state(p);
    const bool is_journal = f.spec.judge == judge_kind::client;
    const reply found = is_journal ? ask_about(*connections, {key, p}, {"HEXISTS", key, "begin"})
                                   : ask_about(*connections, {key, p}, {"EXISTS", key});
    if (found.integer() == 1) continue;
    if (!is_there(*connections, f)) return {};
    return damaged_key(key, "is missing");
  }
  return {};
}

/// The meaning of missing keys if the filter was not rebuilt. A filter that is being removed may lack a
/// segment: that is a drop, not damage. Of a filter that is gone nothing is kept, so nothing can be answered
/// from a copy of it.
void followed_filter::tell_damage_from_drop(const generation& in, batch_failure& failure) const {
  const filter_identity& f = in.newest->identity();
  if (failure.why == batch_failure::cause::storage)
    if (const auto damage = damage_of(in)) {
      failure = {batch_failure::cause::format, damage->what(), {}};
      return;
    }
  const connection_pool::lease connections = generations_.connections();
  if (is_there(*connections, f)) return;
  failure = {batch_failure::cause::storage, filter_is_gone(f.keys.header()).what(), {}};
  try {
    in.newest->require_life(*connections);
  } catch (const storage_error& e) {
    failure.message = e.what();  // it may have expired, and was removed for that
  }
  in.newest->clear();
}

/// Lets the generation in place judge keys until there is no newer one.
/// @param sealed_judges  whether verdicts of a sealed generation are kept; if not, they count only if it is
///   known to be still in place, whatever else has failed
batch_result followed_filter::judge(keys batches, bool sealed_judges,
                                    const generation::judging& judge) const {
  const auto forget = [&] {
    for (const partition_batch& batch : batches) std::ranges::fill(batch.out, verdict::unknown);
  };
  forget();
  const spec& s = get_spec();
  for (int i = 0; i < most_generations; ++i) {
    const auto current = generations_.in_place();
    batch_result judged;
    if (i == 0 && current->newest == generations_.opened()) {
      judged = current->judge(batches, judge);
    } else {
      const regrouped left(batches, current->newest->get_spec().partitions, s.window.has_value(),
                           regrouped::which::unknown);
      judged = current->judge(left.batches(), judge);
      left.give_back();
    }
    if (current->newest->successor()) {
      bool has_next = false, counts = sealed_judges;
      try {
        has_next = generations_.follow(current);
        counts = counts || (!has_next && is_there(*generations_.connections(), current->newest->identity()));
      } catch (...) {
        if (!counts) forget();
        throw;
      }
      if (!counts) forget();
      if (has_next) continue;
      if (!counts && judged)  // it is being removed
        judged = tl::unexpected(batch_failure{batch_failure::cause::storage, {}, {}});
    }
    // It may be missing because it was rebuilt; or one that it asked, because the rebuild is complete.
    if (!judged && is_about_keys(judged.error())) {
      if (generations_.was_rebuilt(current)) continue;
      tell_damage_from_drop(*current, judged.error());
    }
    tally sum;
    for (const partition_batch& batch : batches) sum += tally_of(batch.out);
    if (judged) return sum;
    judged.error().done = sum;
    return judged;
  }
  throw storage_error(quoted_name(generations_.name()) + " is rebuilt again and again", 0, {});
}

/// A failure on the way from one generation to the next keeps the verdicts so far.
template <typename Judge>
batch_result followed_filter::guarded(keys batches, Judge judge_all) const {
  batch_failure failure;
  try {
    return judge_all();
  } catch (const error&) {
    failure = batch_failure::from_current_exception();
  } catch (const std::exception& e) {  // no memory
    failure = {batch_failure::cause::storage, e.what(), {}};
  }
  for (const partition_batch& batch : batches) failure.done += tally_of(batch.out);
  return tl::unexpected(std::move(failure));
}

batch_result followed_filter::add(keys batches) {
  return guarded(batches, [&] {
    return judge(batches, true, [](sealable_filter& newest, keys some) { return newest.add(some); });
  });
}

/// The sealed generation does not have the keys that were added to its successor.
batch_result followed_filter::check(keys batches) const {
  return guarded(batches, [&] {
    return judge(batches, false, [](const sealable_filter& newest, keys some) { return newest.check(some); });
  });
}

sealable_filter& followed_filter::opened() const {
  if (!generations_.opened_is_in_place())
    throw filter_was_rebuilt(generations_.opened()->identity().keys.header());
  return *generations_.opened();
}

/// Whether the partition was sealed is known only afterwards.
partition_state followed_filter::state(std::uint32_t partition) const {
  try {
    partition_state found = opened().state(partition);
    const sealable_filter& from = *generations_.opened();
    if (const auto next = from.successor())
      throw filter_is_sealed(from.identity(), *next, from.identity().keys.header());
    return found;
  } catch (const storage_error&) {
    if (const auto damage = damage_of(*generations_.in_place())) throw *damage;
    throw;
  }
}

void followed_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  (void)state(partition);
  if (!generations_.in_place()->before.empty())
    throw storage_error(quoted_name(generations_.name()) +
                            " is being rebuilt, and its keys are not in one place; wait until the rebuild is "
                            "done, or begin it again",
                        0, {});
  opened().visit_segments(partition, visit);
}

batch_path followed_filter::path() const {
  const auto current = generations_.in_place();
  batch_path path = current->newest->path();
  if (!current->before.empty()) path.asks_first = predecessor{generations_.name(), {}};
  return path;
}

/// Tells a rebuild since it was opened from other failures.
template <typename Call>
auto followed_filter::in_opened(Call call) const {
  try {
    return call(opened());
  } catch (const storage_error&) {
    if (generations_.was_rebuilt(generations_.in_place()))
      throw filter_was_rebuilt(generations_.opened()->identity().keys.header());
    throw;
  }
}

void followed_filter::must_fit(const sibling_source& siblings) const {
  in_opened([&](const sealable_filter& newest) { newest.must_fit(siblings); });
}

void followed_filter::merge(const sibling_source& siblings) {
  in_opened([&](sealable_filter& newest) { newest.merge(siblings); });
}

std::unique_ptr<ledger> followed_filter::open_ledger(std::string_view job,
                                                     std::optional<std::string_view> description) {
  return in_opened([&](sealable_filter& newest) { return newest.open_ledger(job, description); });
}

namespace {

/// Attempts while other clients finish rebuilds.
constexpr int most_succession_attempts = 20;

/// @return false  one of them is gone
bool follow_back(server_connections& connections, filter_identity from, sealing seals, bool is_first_attempt,
                 std::vector<filter_identity>& chain) {
  chain.clear();
  auto h = read_filter_header(connections, from);
  if (!h) throw filter_is_gone(from.keys.header());
  while (h->after) {
    filter_identity old{{from.keys.prefix(), *h->after}, {}, *h->after};
    h = read_filter_header(connections, old);
    if (!h && is_first_attempt) return false;
    if (!h && name_index(from.keys.prefix()).left(connections).keeps(old.id))
      throw damaged_key(old.keys.header(), "is missing");
    if (!h) {
      // Its server came back without the end of a rebuild, and the other filter no longer exists.
      if (seals == sealing::yes) (void)forget_before(connections, from, old.id, random_name());
      return true;
    }
    old.spec = h->spec;
    if (seals == sealing::yes && !seal(connections, old, from.id)) return false;
    chain.push_back(old);
    from = std::move(old);
  }
  return true;
}

/// @return false  a server that took over lacks a part of it; the other parts keep their time limits
bool is_permanent_now(server_connections& connections, const filter_identity& f) {
  if (!has_all_partitions(connections, f)) return false;
  try {
    make_permanent(connections, f);
    return true;
  } catch (const storage_error&) {
    return false;
  }
}

}  // namespace

/// The successor outlives its creator before it gets the name, so that every client that finds it finds it
/// complete.
placing put_in_place(server_connections& connections, const filter_identity& old,
                     const image::filter_id& id) {
  const name_index names(old.keys.prefix());
  const auto before = read_filter_header(connections, old);
  if (!before) throw filter_is_gone(old.keys.header());
  // Another client found it unmade, or the old one is rebuilt once more.
  if (before->next != id)
    return !before->next && names.leads_to(connections, old.id) ? placing::unmade : placing::unnamed;
  filter_identity next{{old.keys.prefix(), id}, {}, id};
  const auto h = read_filter_header(connections, next);
  if (h) {
    next.spec = h->spec;
    if (h->expires_at != before->expires_at && !copy_expiry(connections, next, old.id, before->expires_at))
      throw filter_is_gone(next.keys.header());
  }
  if (!h || !(h->is_permanent || is_permanent_now(connections, next))) {
    // Or the successor existed, was itself succeeded, and is gone: then this one must be removed as well.
    if (!names.leads_to(connections, old.id)) return placing::unnamed;
    forget_successor(connections, old, id);
    return placing::unmade;
  }
  return names.succeed(connections, old.id, id) ? placing::done : placing::unnamed;
}

std::vector<filter_identity> asked_before(server_connections& connections, const filter_identity& f,
                                          sealing seal) {
  std::vector<filter_identity> chain;
  for (int i = 0; i < most_succession_attempts; ++i)
    if (follow_back(connections, f, seal, i == 0, chain)) return chain;
  throw damaged_key(f.keys.header(), "asks a filter of which a part is missing");
}

}  // namespace everseen::redis
