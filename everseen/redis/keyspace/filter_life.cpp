#include "everseen/redis/keyspace/filter_life.hpp"

#include <algorithm>

namespace everseen::redis {

namespace {

constexpr std::chrono::seconds known_within{1};

}  // namespace

/// A filter that has expired by an earlier read may have got a later expiry time since. Otherwise one of
/// several threads reads the header again while the others continue: no lock is held while a server is asked.
void filter_life::require(session& connections) {
  const auto current = ours::now();
  ours::rep due = look_again_at_;
  const bool has_expired = current.time_since_epoch().count() >= expires_at_;
  if (!has_expired && current.time_since_epoch().count() < due) return;
  const ours::rep next = (current + known_within).time_since_epoch().count();
  if (!has_expired && due != never_looked && !look_again_at_.compare_exchange_strong(due, next)) return;
  look(connections, has_expired);
}

/// A look that finds no living filter is repeated by the next batch: only one that finds it says anything
/// about the second after it.
/// @param has_expired  as known before: then the header may have been removed for that
void filter_life::look(session& connections, bool has_expired) {
  const auto asked = ours::now();
  const auto h = read_filter_header(connections, filter_);
  const std::string key = filter_.keys.header();
  if (!h || h->has_expired()) look_again_at_ = never_looked;
  if (!h && !has_expired) throw filter_is_gone(key);
  if (!h || h->has_expired()) throw storage_error("the filter has expired; create another one", 0, key);
  if (h->expires_at) {
    // An expiry time centuries away does not fit this clock.
    const auto left =
        std::min<std::chrono::milliseconds>(*h->expires_at - h->read_at, std::chrono::hours(24));
    expires_at_ = (asked + left).time_since_epoch().count();
  } else {
    expires_at_ = ours::duration::max().count();
  }
  look_again_at_ = (asked + known_within).time_since_epoch().count();
}

}  // namespace everseen::redis
