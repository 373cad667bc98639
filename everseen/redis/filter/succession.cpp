#include "everseen/redis/filter/succession.hpp"

#include <string>
#include <utility>

#include "everseen/redis/filter/filter_expiry.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/name_index.hpp"

namespace everseen::redis {

namespace {

/// Attempts while other clients finish rebuilds.
constexpr int most_succession_attempts = 20;

/// @return false  one of them is gone
bool follow_back(session& with, filter_identity from, sealing seals, bool is_first_attempt,
                 std::vector<filter_identity>& chain) {
  chain.clear();
  while (const auto after = asks_before(with, from.keys)) {
    filter_identity old{{from.keys.prefix(), *after}, {}, *after};
    const auto h = read_filter_header(with, old);
    if (!h && is_first_attempt) return false;
    if (!h) {
      // Its server came back without the end of a rebuild, and the other filter no longer exists.
      if (seals == sealing::yes) (void)forget_before(with, from, *after, random_name());
      return true;
    }
    old.spec = h->spec;
    if (seals == sealing::yes && !seal(with, old, from.id)) return false;
    chain.push_back(old);
    from = std::move(old);
  }
  return true;
}

}  // namespace

/// The successor outlives its creator before it gets the name, so that every client that finds it finds it
/// complete.
placing put_in_place(session& with, const filter_identity& old, const image::filter_id& by) {
  const name_index names(old.keys.prefix());
  const auto before = read_filter_header(with, old);
  if (!before) throw filter_is_gone(old.keys.header());
  filter_identity next{{old.keys.prefix(), by}, {}, by};
  const auto h = read_filter_header(with, next);
  if (!h) {
    // Or the successor existed, was itself succeeded, and is gone: then this one must be removed as well.
    if (!names.leads_to(with, old.id)) return placing::unnamed;
    forget_successor(with, old, by);
    return placing::unmade;
  }
  next.spec = h->spec;
  if (h->expires_at != before->expires_at && !copy_expiry(with, next, old.id, before->expires_at))
    throw filter_is_gone(next.keys.header());
  if (!h->is_permanent) make_permanent(with, next);
  return names.succeed(with, old.id, by) ? placing::done : placing::unnamed;
}

std::vector<filter_identity> asked_before(session& with, const filter_identity& f, sealing seal) {
  std::vector<filter_identity> chain;
  for (int i = 0; i < most_succession_attempts; ++i)
    if (follow_back(with, f, seal, i == 0, chain)) return chain;
  throw damaged_key(f.keys.header(), "asks a filter of which a part is missing");
}

}  // namespace everseen::redis
