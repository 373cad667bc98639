#include "everseen/redis/filter/generations.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/base/verdict.hpp"
#include "everseen/redis/filter/followed_filter.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/name_index.hpp"
#include "everseen/store/link/linked_filter.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen::redis {

generations::generations(std::shared_ptr<connection_pool> pool, std::string name, const filter_identity& f,
                         access mode)
    : pool_(std::move(pool)),
      name_(std::move(name)),
      mode_(mode),
      opened_(open_sealable(pool_, name_, f, mode)),
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
generations::pointer generations::generation_of(redis::server_connections& connections,
                                                std::shared_ptr<sealable_filter> newest,
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
  const sealing seal = mode_ == access::write ? sealing::yes : sealing::no;
  for (const filter_identity& f : asked_before(connections, made->newest->identity(), seal))
    made->before.push_back(open(f));
  if (mode_ == access::write)
    for (const auto& one : made->before) one->ignore_staleness();
  return made;
}

generations::pointer generations::in_place() const {
  pointer current;
  {
    const std::scoped_lock alone(lock_);
    current = in_place_;
  }
  if (current->before.empty()) return current;
  const connection_pool::lease connections = pool_->take();
  const auto h = read_filter_header(*connections, current->newest->identity());
  if (h && h->after != current->before.front()->identity().id)
    replace(current, generation_of(*connections, current->newest, current.get()));
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
  const connection_pool::lease connections = pool_->take();
  const image::filter_id id = *sealed->newest->successor();
  // A filter that is being removed names itself as its successor.
  if (id == sealed->newest->identity().id) return find_again(*connections, sealed);
  filter_identity next{{sealed->newest->identity().keys.prefix(), id}, {}, id};
  const auto h = read_filter_header(*connections, next);
  if (!h) return find_again(*connections, sealed);
  next.spec = h->spec;
  replace(sealed, generation_of(*connections, open_sealable(pool_, name_, next, mode_), sealed.get()));
  return true;
}

/// Finds the current filter of this name, if it descends from a known generation: other clients have rebuilt
/// it, possibly several times, while this client was idle.    @return false  it does not
bool generations::find_again(redis::server_connections& connections, const pointer& lost) const {
  const std::string& prefix = lost->newest->identity().keys.prefix();
  const auto id = name_index(prefix).find(connections, name_);
  if (!id || *id == lost->newest->identity().id) return false;
  filter_identity next{{prefix, *id}, {}, *id};
  const auto h = read_filter_header(connections, next);
  if (!h || h->origin != origin_) return false;
  next.spec = h->spec;
  replace(lost, generation_of(connections, open_sealable(pool_, name_, next, mode_), lost.get()));
  return true;
}

bool generations::was_rebuilt(const pointer& failed) const {
  const connection_pool::lease connections = pool_->take();
  if (find_again(*connections, failed)) return true;
  if (failed->before.empty() || !read_filter_header(*connections, failed->newest->identity())) return false;
  auto current = generation_of(*connections, failed->newest, failed.get());
  if (current->ids() == failed->ids()) return false;
  replace(failed, std::move(current));
  return true;
}

namespace {

/// The same batches, with other places for their verdicts.
std::vector<partition_batch> with_verdicts_in(std::span<const partition_batch> batches,
                                              std::vector<verdict>& verdicts) {
  std::vector<partition_batch> same(batches.begin(), batches.end());
  std::size_t keys = 0;
  for (const partition_batch& batch : same) keys += batch.out.size();
  verdicts.assign(keys, verdict::unknown);
  auto found = verdicts.begin();
  for (partition_batch& batch : same) {
    batch.out = {found, batch.out.size()};
    found += static_cast<std::ptrdiff_t>(batch.out.size());
  }
  return same;
}

/// @param found  for each key, `seen` if one has it, else `late` if one calls it that
batch_result look_up(const sealable_filter& in, generation::keys batches, std::vector<verdict>& found) {
  std::vector<verdict> here;
  const auto same = with_verdicts_in(batches, here);
  const regrouped sorted(same, in.get_spec().partitions, in.get_spec().window.has_value());
  batch_result asked = in.check(sorted.batches());
  sorted.give_back();
  found.resize(here.size(), verdict::fresh);
  for (std::size_t i = 0; i < here.size(); ++i)
    if (here[i] == verdict::seen || (here[i] == verdict::late && found[i] == verdict::fresh))
      found[i] = here[i];
  return asked;
}

}  // namespace

std::vector<image::filter_id> generation::ids() const {
  std::vector<image::filter_id> all{newest->identity().id};
  for (const auto& one : before) all.push_back(one->identity().id);
  return all;
}

batch_result generation::judge(keys batches, const judging& judge) const {
  if (before.empty()) return judge(*newest, batches);
  std::vector<verdict> found;
  for (const auto& one : before)
    if (auto asked = look_up(*one, batches, found); !asked)
      return unanswered(batches, asked.error().why, std::move(asked.error().message));
  batch_result judged = judge(*newest, batches);
  tally sum;
  auto had = found.begin();
  for (const partition_batch& batch : batches) {
    for (verdict& v : batch.out) {
      const verdict before_it = *had++;
      const bool counts = before_it == verdict::seen || (before_it == verdict::late && v == verdict::fresh);
      if (counts && v != verdict::unknown) v = before_it;
    }
    sum += tally_of(batch.out);
  }
  if (judged) return sum;
  judged.error().done = sum;
  return judged;
}

}  // namespace everseen::redis
