#include "everseen/redis/keyspace/filter_life.hpp"

#include <algorithm>

namespace everseen::redis {

namespace {

constexpr std::chrono::seconds known_within{1};

}  // namespace

/// What looks over by what was read before may have got a later end since.
void filter_life::require(session& with) {
  if (is_known()) return;
  const std::scoped_lock alone(looking_);
  if (!is_known()) look(with);
}

void filter_life::look(session& with) {
  const auto asked = ours::now();
  const auto h = read_filter_header(with, filter_);
  const std::string key = filter_.keys.header();
  if (!h) throw filter_is_gone(key);
  if (h->is_over()) throw storage_error("the filter has ended, as it was told to; make another one", 0, key);
  if (h->expires_at) {
    // An end in centuries is none that this clock could say.
    const auto left = std::min<std::chrono::milliseconds>(*h->expires_at - h->now, std::chrono::hours(24));
    ends_at_ = (asked + left).time_since_epoch().count();
  } else {
    ends_at_ = ours::duration::max().count();
  }
  look_again_at_ = (asked + known_within).time_since_epoch().count();
}

}  // namespace everseen::redis
