#include "everseen/redis/filter/followed_filter.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/base/tally_of.hpp"
#include "everseen/redis/filter/succession.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/name_index.hpp"
#include "everseen/store/link/regrouped.hpp"
#include "everseen/store/port/unanswered.hpp"

namespace everseen::redis {

namespace {

/// A client that was away for longer than so many rebuilds is told to open the filter again.
constexpr int most_generations = 1000;

/// The generations before are sealed, and change no more; whether they are still asked is another question.
constexpr std::chrono::seconds known_within_when_adding{1};

/// Batches with another place for their verdicts.
std::vector<partition_batch> with_verdicts_in(std::span<const partition_batch> batches,
                                              std::vector<verdict>& verdicts) {
  std::vector<partition_batch> same(batches.begin(), batches.end());
  std::size_t keys = 0;
  for (const partition_batch& batch : same) keys += batch.out.size();
  verdicts.assign(keys, verdict::unknown);
  auto at = verdicts.begin();
  for (partition_batch& batch : same) {
    batch.out = {at, batch.out.size()};
    at += static_cast<std::ptrdiff_t>(batch.out.size());
  }
  return same;
}

/// Whether what is missing, or not what it must be, is on the servers.
bool is_about_keys(const batch_failure& f) noexcept {
  return f.why == batch_failure::cause::storage || f.why == batch_failure::cause::format;
}

/// By name and header.
bool is_there(session& with, const filter_identity& f) {
  return name_index(f.keys.prefix()).leads_to(with, f.id) && read_filter_header(with, f);
}

}  // namespace

/// A filter in place, and those that it asks first.
struct followed_filter::generation {
  std::shared_ptr<sealable_filter> newest;
  std::vector<std::shared_ptr<sealable_filter>> before{};  ///< the one that it succeeds first

  [[nodiscard]] std::vector<image::filter_id> ids() const {
    std::vector<image::filter_id> all{newest->identity().id};
    for (const auto& one : before) all.push_back(one->identity().id);
    return all;
  }

  /// What one of them has is seen, and what one calls late is not fresh; and the newest gets all the same, so
  /// that it is not lost with the others.
  template <typename Judge>
  batch_result judge(keys batches, Judge by) const {
    if (before.empty()) return by(*newest, batches);
    std::vector<verdict> found;
    for (const auto& one : before)
      if (auto asked = look_up(*one, batches, found); !asked)
        return unanswered(batches, asked.error().why, std::move(asked.error().message));
    batch_result judged = by(*newest, batches);
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

 private:
  /// @param found  a verdict a key: `seen` where one has it, else `late` where one calls it that
  static batch_result look_up(const sealable_filter& in, keys batches, std::vector<verdict>& found) {
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
};

followed_filter::followed_filter(std::shared_ptr<session_pool> pool, std::string name,
                                 const filter_identity& f, access how)
    : pool_(std::move(pool)),
      name_(std::move(name)),
      how_(how),
      opened_(open_sealable(pool_, name_, f, how)),
      in_place_(generation_of(*pool_->take(), opened_, nullptr)) {
  const auto h = read_filter_header(*pool_->take(), f);
  if (!h) throw filter_is_gone(f.keys.header());
  origin_ = h->origin;
}

followed_filter::~followed_filter() = default;

/// A filter with those that it asks. What this client has open of them already stays open.
std::shared_ptr<const followed_filter::generation> followed_filter::generation_of(
    session& with, std::shared_ptr<sealable_filter> newest, const generation* known) const {
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

/// The filter in place as of at most some time ago: whether it asks others is looked up again then.
std::shared_ptr<const followed_filter::generation> followed_filter::in_place(
    std::chrono::steady_clock::duration known_within) const {
  std::shared_ptr<const generation> now;
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

/// Memory of those that are not asked any more is given back; one that was opened is kept, for messages.
void followed_filter::replace(const std::shared_ptr<const generation>& left,
                              std::shared_ptr<const generation> next) const {
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

/// Goes on with the successor, which was in place before the first seal.    @return false  there is none
bool followed_filter::follow(const std::shared_ptr<const generation>& sealed) const {
  const session_pool::lease with = pool_->take();
  const image::filter_id by = *sealed->newest->successor();
  // One that is being removed is sealed for itself.
  if (by == sealed->newest->identity().id) return find_again(*with, sealed);
  filter_identity next{{sealed->newest->identity().keys.prefix(), by}, {}, by};
  const auto h = read_filter_header(*with, next);
  if (!h) return find_again(*with, sealed);
  next.spec = h->spec;
  replace(sealed, generation_of(*with, open_sealable(pool_, name_, next, how_), sealed.get()));
  return true;
}

/// Where the filter of our name descends from the one that we have lost: others have rebuilt it, maybe more
/// than once, while this client asked nobody.    @return false  it does not
bool followed_filter::find_again(session& with, const std::shared_ptr<const generation>& lost) const {
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

/// After a failure of the store: whether the filter, or one that it asks, was rebuilt meanwhile.
bool followed_filter::was_rebuilt(const std::shared_ptr<const generation>& failed) const {
  const session_pool::lease with = pool_->take();
  if (find_again(*with, failed)) return true;
  if (failed->before.empty()) return false;
  auto now = generation_of(*with, failed->newest, failed.get());
  if (now->ids() == failed->ids()) return false;
  replace(failed, std::move(now));
  return true;
}

/// Where a filter is there by name and header and one of its states is not, that is damage and no drop: a
/// drop takes the name first, so the states are asked before it.
std::optional<format_error> followed_filter::damage_of(const generation& in) const {
  const filter_identity& f = in.newest->identity();
  const std::string_view always = f.spec.judge == judge_kind::client ? "begin" : "epoch";
  const session_pool::lease with = pool_->take();
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    const std::string key = f.keys.state(p);
    if (ask_about(*with, {key, p}, {"HEXISTS", key, always}).integer() == 1) continue;
    if (!is_there(*with, f)) return {};
    return damaged_key(key, "is missing");
  }
  return {};
}

/// What keys that are missing mean where the filter was not rebuilt. One whose keys are being removed may
/// lack a segment: that is a drop and no damage.
void followed_filter::tell_damage_from_drop(const generation& in, batch_failure& failure) const {
  const filter_identity& f = in.newest->identity();
  if (failure.why == batch_failure::cause::storage) {
    const auto damage = damage_of(in);
    if (damage) failure = {batch_failure::cause::format, damage->what(), {}};
  } else if (!is_there(*pool_->take(), f)) {
    failure = {batch_failure::cause::storage, filter_is_gone(f.keys.header()).what(), {}};
  }
}

/// Lets the generation in place judge keys until there is no newer one.
/// @param sealed_judges  what a sealed generation's verdicts are worth: as they are, or nothing, also where
/// the way to its successor fails
template <typename Judge>
batch_result followed_filter::judge(keys batches, std::chrono::steady_clock::duration known_within,
                                    bool sealed_judges, Judge by) const {
  const auto forget = [&] {
    for (const partition_batch& batch : batches) std::ranges::fill(batch.out, verdict::unknown);
  };
  const auto goes_on_from = [&](const std::shared_ptr<const generation>& sealed) {
    bool has_next = true;
    try {
      has_next = follow(sealed);
    } catch (...) {
      if (!sealed_judges) forget();
      throw;
    }
    if (has_next && !sealed_judges) forget();
    return has_next;
  };
  forget();
  const spec& s = get_spec();
  for (int i = 0; i < most_generations; ++i) {
    const auto now = in_place(known_within);
    batch_result judged;
    if (i == 0 && now->newest == opened_) {
      judged = now->judge(batches, by);
    } else {
      const regrouped left(batches, now->newest->get_spec().partitions, s.window.has_value(),
                           regrouped::which::unknown);
      judged = now->judge(left.batches(), by);
      left.give_back();
    }
    if (now->newest->successor() && goes_on_from(now)) continue;
    // It may be gone, or going, because it was rebuilt; or one that it asked, because the rebuild is done.
    if (!judged && is_about_keys(judged.error())) {
      if (was_rebuilt(now)) continue;
      tell_damage_from_drop(*now, judged.error());
    }
    tally sum;
    for (const partition_batch& batch : batches) sum += tally_of(batch.out);
    if (judged) return sum;
    judged.error().done = sum;
    return judged;
  }
  throw storage_error("'" + name_ + "' is rebuilt without end", 0, {});
}

/// An error on the way from one generation to the next leaves what has its verdict as it is.
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
    return judge(batches, known_within_when_adding, true,
                 [](sealable_filter& newest, keys some) { return newest.add(some); });
  });
}

/// What was added to the successor the sealed one does not know.
batch_result followed_filter::check(keys batches) const {
  return guarded(batches, [&] {
    return judge(batches, {}, false,
                 [](const sealable_filter& newest, keys some) { return newest.check(some); });
  });
}

std::optional<event_time> followed_filter::expires_at() const {
  for (int i = 0;; ++i) {
    const auto now = in_place({});
    try {
      return now->newest->expires_at();
    } catch (const storage_error&) {
      if (i == most_generations || !was_rebuilt(now)) throw;
    }
  }
}

sealable_filter& followed_filter::opened() const {
  const std::scoped_lock alone(lock_);
  if (in_place_->newest != opened_) throw filter_is_succeeded(opened_->identity().keys.header());
  return *opened_;
}

/// Whether the partition was sealed is known behind the look.
partition_state followed_filter::state(std::uint32_t partition) const {
  try {
    partition_state found = opened().state(partition);
    if (opened_->successor()) throw filter_is_succeeded(opened_->identity().keys.header());
    return found;
  } catch (const storage_error&) {
    if (const auto damage = damage_of(*in_place({}))) throw *damage;
    throw;
  }
}

void followed_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  (void)state(partition);
  if (!in_place({})->before.empty())
    throw storage_error("'" + name_ +
                            "' is being rebuilt, and what it knows is not in one place; wait until the "
                            "rebuild is done, or begin "
                            "it again",
                        0, {});
  opened().visit_segments(partition, visit);
}

bool followed_filter::is_called(std::string_view name) const {
  const filter_identity& opened = opened_->identity();
  const session_pool::lease with = pool_->take();
  const auto id = name_index(opened.keys.prefix()).find(*with, name);
  if (!id || *id == opened.id) return id.has_value();
  const auto h = read_filter_header(*with, {{opened.keys.prefix(), *id}, {}, *id});
  return h && h->origin == origin_;
}

std::optional<predecessor> followed_filter::asks_first() const {
  if (in_place({})->before.empty()) return std::nullopt;
  return predecessor{name_, {}};
}

void followed_filter::expire_at(std::optional<event_time> when) {
  opened().expire_at(when);
}

std::string followed_filter::place_of(std::uint32_t partition) const {
  return opened().place_of(partition);
}

std::unique_ptr<ledger> followed_filter::open_ledger(std::string_view job, std::string_view description) {
  try {
    return opened().open_ledger(job, description);
  } catch (const storage_error&) {
    if (was_rebuilt(in_place({}))) throw filter_is_succeeded(opened_->identity().keys.header());
    throw;
  }
}

std::vector<std::string> followed_filter::jobs() const {
  return opened().jobs();
}

job_size followed_filter::size_of_job(std::string_view job) const {
  return opened().size_of_job(job);
}

void followed_filter::end_job(std::string_view job) {
  opened().end_job(job);
}

}  // namespace everseen::redis
