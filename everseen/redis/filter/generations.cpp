#include "everseen/redis/filter/generations.hpp"

#include <algorithm>
#include <utility>

#include "everseen/redis/filter/succession.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/name_index.hpp"

namespace everseen::redis {

generations::generations(std::shared_ptr<session_pool> pool, std::string name, const filter_identity& f,
                         access how)
    : pool_(std::move(pool)),
      name_(std::move(name)),
      how_(how),
      opened_(open_sealable(pool_, name_, f, how)),
      in_place_(generation_of(*pool_->take(), opened_, nullptr)) {
  const auto h = read_filter_header(*pool_->take(), f);
  if (!h) throw filter_is_gone(f.keys.header());
  origin_ = h->origin;
}

bool generations::opened_is_in_place() const {
  const std::scoped_lock alone(lock_);
  return in_place_->newest == opened_;
}

/// A filter and those that it asks. Reuses those that are open already.
generations::pointer generations::generation_of(redis::session& with, std::shared_ptr<sealable_filter> newest,
                                                const generation* known) const {
  auto made = std::make_shared<generation>(generation{std::move(newest)});
  const auto open = [&](const filter_identity& f) {
    if (known != nullptr) {
      if (known->newest->identity().id == f.id) return known->newest;
      for (const auto& one : known->before)
        if (one->identity().id == f.id) return one;
    }
    return open_sealable(pool_, name_, f, access::read);
  };
  const sealing seal = how_ == access::write ? sealing::yes : sealing::no;
  for (const filter_identity& f : asked_before(with, made->newest->identity(), seal))
    made->before.push_back(open(f));
  return made;
}

generations::pointer generations::in_place(std::chrono::steady_clock::duration known_within) const {
  pointer now;
  {
    const std::scoped_lock alone(lock_);
    if (in_place_->before.empty()) return in_place_;
    const auto asked = std::chrono::steady_clock::now();
    if (asked - looked_at_ < known_within) return in_place_;
    looked_at_ = asked;
    now = in_place_;
  }
  const session_pool::lease with = pool_->take();
  if (asks_before(*with, now->newest->identity().keys) != now->before.front()->identity().id)
    replace(now, generation_of(*with, now->newest, now.get()));
  const std::scoped_lock alone(lock_);
  return in_place_;
}

/// Frees the memory of those that are no longer asked; the one that was opened is kept for messages.
void generations::replace(const pointer& left, pointer next) const {
  const auto still = next->ids();
  {
    const std::scoped_lock alone(lock_);
    if (in_place_ != left) return;  // another thread was faster
    in_place_ = std::move(next);
  }
  const auto clear = [&](sealable_filter& f) {
    if (std::ranges::find(still, f.identity().id) == still.end()) f.clear();
  };
  clear(*left->newest);
  for (const auto& one : left->before) clear(*one);
}

bool generations::follow(const pointer& sealed) const {
  const session_pool::lease with = pool_->take();
  const image::filter_id by = *sealed->newest->successor();
  // A filter that is being removed names itself as its successor.
  if (by == sealed->newest->identity().id) return find_again(*with, sealed);
  filter_identity next{{sealed->newest->identity().keys.prefix(), by}, {}, by};
  const auto h = read_filter_header(*with, next);
  if (!h) return find_again(*with, sealed);
  next.spec = h->spec;
  replace(sealed, generation_of(*with, open_sealable(pool_, name_, next, how_), sealed.get()));
  return true;
}

/// Finds the current filter of this name, if it descends from a known generation: other clients have rebuilt
/// it, possibly several times, while this client was idle.    @return false  it does not
bool generations::find_again(redis::session& with, const pointer& lost) const {
  const std::string& prefix = lost->newest->identity().keys.prefix();
  const auto id = name_index(prefix).find(with, name_);
  if (!id || *id == lost->newest->identity().id) return false;
  filter_identity next{{prefix, *id}, {}, *id};
  const auto h = read_filter_header(with, next);
  if (!h || h->origin != origin_) return false;
  next.spec = h->spec;
  replace(lost, generation_of(with, open_sealable(pool_, name_, next, how_), lost.get()));
  return true;
}

bool generations::was_rebuilt(const pointer& failed) const {
  const session_pool::lease with = pool_->take();
  if (find_again(*with, failed)) return true;
  if (failed->before.empty()) return false;
  auto now = generation_of(*with, failed->newest, failed.get());
  if (now->ids() == failed->ids()) return false;
  replace(failed, std::move(now));
  return true;
}

}  // namespace everseen::redis
