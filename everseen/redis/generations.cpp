#include "everseen/redis/generations.hpp"

#include <algorithm>
#include <utility>

#include "everseen/redis/drive.hpp"
#include "everseen/store/regrouped.hpp"

namespace everseen::redis {

struct generations::generation {
  generation(const remote_filter& f, std::uint64_t of) : names(f), parent(of), known(f.spec.partitions) {}

  remote_filter names;
  std::atomic<std::uint64_t> parent;  ///< which it was to replace when it was met; 0: none, it was in place
  std::atomic<bool> dead{false};      ///< it will never be in place
  std::vector<std::shared_ptr<const remote_partition>> known;  ///< guarded
};

/// Keys of one partition on their way.
struct generations::part {
  partition_batch batch;
  std::uint64_t also_in = 0;            ///< the generation that has them already
  bool added = false;                   ///< there; not where it was given up
  std::vector<verdict> there{};         ///< what they were called in it
  std::optional<batch_failure> gone{};  ///< where the state is not there: what that means if it is damage

  /// What is left when the first keys have their verdict.
  [[nodiscard]] part rest(std::size_t from) const {
    part left = *this;
    left.batch.digests = batch.digests.subspan(from);
    left.batch.out = batch.out.subspan(from);
    if (batch.times.size() > 1) left.batch.times = batch.times.subspan(from);
    if (!there.empty())
      left.there.erase(left.there.begin(), left.there.begin() + static_cast<std::ptrdiff_t>(from));
    return left;
  }
};

namespace {

/// The first failure is the one reported, unless it was only a lack of room.
void note(std::optional<batch_failure>& all, std::optional<batch_failure> one) {
  if (one && (!all || (!all->ends_batch() && one->ends_batch()))) all = std::move(one);
}

batch_failure storage_failure(std::string message) {
  return {batch_failure::cause::storage, std::move(message), {}};
}

}  // namespace

generations::generations(std::shared_ptr<session_pool> pool, const remote_filter& opened, gear_kind gear)
    : pool_(std::move(pool)),
      catalogue_(pool_->url()),
      name_(opened.keys.name()),
      partitions_(opened.spec.partitions),
      replicas_(pool_->url()),
      gear_(gear) {
  home_ = &known_as(opened, 0);
}

generations::~generations() = default;

void generations::keep_answers(std::chrono::milliseconds time) {
  const std::scoped_lock alone(lock_);
  for (auto& [number, each] : all_) each->names.keeps_answers = time;
}

generations::failure generations::judge(session& with, std::span<const partition_batch> batches,
                                        purpose what) {
  for (const partition_batch& batch : batches)
    std::fill(batch.out.begin(), batch.out.end(), verdict::unknown);
  generation* home = nullptr;
  {
    const std::scoped_lock alone(lock_);
    home = home_;
  }
  if (home->names.spec.partitions != partitions_) return judge_regrouped(with, *home, batches, what);
  std::vector<part> parts;
  for (const partition_batch& batch : batches)
    if (!batch.digests.empty()) parts.push_back({batch});
  return judge_in(with, *home, std::move(parts), what);
}

generations::failure generations::judge_regrouped(session& with, generation& in,
                                                  std::span<const partition_batch> batches, purpose what) {
  const regrouped sorted(batches, in.names.spec.partitions, in.names.spec.window.has_value());
  std::vector<part> parts;
  for (const partition_batch& batch : sorted.batches()) parts.push_back({batch});
  // Also where it throws: what was answered by then was answered.
  const struct giving_back {
    const regrouped& from;
    ~giving_back() { from.give_back(); }
  } at_the_end{sorted};
  return judge_in(with, in, std::move(parts), what);
}

generations::failure generations::judge_in(session& with, generation& in, std::vector<part> parts,
                                           purpose what) {
  failure all;
  while (!parts.empty()) {
    if (what == purpose::add) note(all, add_to_next(with, in, parts));
    std::vector<partition_task> tasks = tasks_for(with, in, parts, what, false);
    drive(with, replicas_, tasks);
    learn(in, parts, tasks);
    std::vector<part> again;
    std::vector<part> elsewhere;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto why = tasks[i].detour();
      if (why != partition_task::reason::gone) note(all, tasks[i].failure());
      if (why == partition_task::reason::none) continue;
      part left = parts[i].rest(tasks[i].answered());
      if (why == partition_task::reason::gone) left.gone = tasks[i].failure();
      // Added to a generation that was given up, and replaced by another: that tells nothing.
      if (why == partition_task::reason::closed)
        left.added = left.added && tasks[i].known()->next == left.also_in;
      (why == partition_task::reason::next ? again : elsewhere).push_back(std::move(left));
    }
    if (!elsewhere.empty()) note(all, follow(with, in, std::move(elsewhere), what));
    parts = std::move(again);
  }
  return all;
}

/// Keys that cannot be added there stay unknown, and are not judged here: nobody may be told `fresh` of a key
/// that the next generation lacks.
generations::failure generations::add_to_next(session& with, generation& in, std::vector<part>& parts) {
  std::map<std::uint64_t, std::vector<part*>> wanting;
  {
    const std::scoped_lock alone(lock_);
    for (part& p : parts) {
      const auto& picture = in.known[p.batch.partition];
      const std::uint64_t next = picture ? picture->next : 0;
      if (next == p.also_in) continue;
      p.also_in = next;
      p.added = false;
      p.there.assign(p.batch.digests.size(), verdict::unknown);
      if (next != 0) wanting[next].push_back(&p);
    }
  }
  failure all;
  for (auto& [number, some] : wanting) {
    failure here;
    generation* to = nullptr;
    try {
      to = &next_of(with, number);
      if (to->dead) continue;
      std::vector<partition_batch> batches;
      for (part* p : some) {
        batches.push_back(p->batch);
        batches.back().out = p->there;
      }
      here = judge_regrouped(with, *to, batches, purpose::add);
    } catch (const parameter_error& e) {
      here = storage_failure(e.what());
    } catch (const error&) {
      here = batch_failure::from_current_exception();
    }
    if (to != nullptr && to->dead) continue;
    for (part* p : some) {
      p->added = !here;
      if (here) p->batch.digests = {};
    }
    if (!here) continue;
    note(all, std::move(here));
  }
  std::erase_if(parts, [](const part& p) { return p.batch.digests.empty(); });
  return all;
}

generations::failure generations::follow(session& with, generation& in, std::vector<part> parts,
                                         purpose what) {
  generation* to = nullptr;
  try {
    to = destination(with, in);
  } catch (const parameter_error& e) {
    return why_gone(with, parts.front().gone.value_or(storage_failure(e.what())));
  } catch (const error&) {
    return batch_failure::from_current_exception();
  }
  if (to == nullptr && parts.front().gone) return why_gone(with, *parts.front().gone);
  if (to == nullptr) return storage_failure("the rebuild of the filter was given up");
  failure all;
  std::vector<part> on_their_way;
  std::vector<partition_batch> others;
  for (part& p : parts)
    // By what they were called there, whatever has become of that generation since: it has seen to it.
    if (p.added)
      on_their_way.push_back(std::move(p));
    else
      others.push_back(p.batch);
  if (!on_their_way.empty()) note(all, look_up_closed(with, in, on_their_way));
  if (!others.empty()) note(all, judge_regrouped(with, *to, others, what));
  return all;
}

generations::failure generations::look_up_closed(session& with, generation& in, std::vector<part>& parts) {
  // Apart from the verdicts: `fresh` there is none yet, should this throw before all were asked.
  std::vector<std::vector<verdict>> looks;
  std::vector<std::span<verdict>> verdicts;
  for (part& p : parts) {
    looks.emplace_back(p.batch.digests.size(), verdict::unknown);
    verdicts.push_back(std::exchange(p.batch.out, looks.back()));
  }
  std::vector<partition_task> tasks = tasks_for(with, in, parts, purpose::check, true);
  drive(with, replicas_, tasks);
  failure all;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].failure()) {
      note(all, batch_failure{batch_failure::cause::backend,
                              "the filter was rebuilt while a batch was on its way for too long; "
                              "whether its keys are fresh nobody knows",
                              {}});
      continue;
    }
    for (std::size_t k = 0; k < looks[i].size(); ++k)
      verdicts[i][k] = looks[i][k] == verdict::seen ? verdict::seen : parts[i].there[k];
  }
  return all;
}

/// Where the keys of a partition are judged that is closed, or is not there.
/// @return null if nowhere else: it is damaged, or its generation was given up
generations::generation* generations::destination(session& with, generation& in) {
  const header h = catalogue_.read_header(with, in.names.keys.name());
  if (h.live.id != in.names.id)
    throw storage_error("the filter '" + in.names.keys.name() + "' was dropped and made again; open it again",
                        0, in.names.keys.header());
  if (h.live.generation == in.names.generation) {
    if (h.next && h.next_is_ready) return &known_as(*h.next, h.live.generation);
    return nullptr;
  }
  if (h.live.generation == in.parent && !(h.next_is_ready && h.next->generation == in.names.generation)) {
    in.dead = true;
    return nullptr;
  }
  generation& live = known_as(h.live, 0);
  const std::scoped_lock alone(lock_);
  home_ = &live;
  return &live;
}

/// A generation that a partition says is the next one. Where the header does not know it, it was given up, or
/// has been replaced itself; the partition tells when it is asked.
generations::generation& generations::next_of(session& with, std::uint64_t number) {
  {
    const std::scoped_lock alone(lock_);
    const auto found = all_.find(number);
    if (found != all_.end()) return *found->second;
  }
  const header h = catalogue_.read_header(with, name_);
  if (h.live.generation == number) return known_as(h.live, 0);
  if (h.next && h.next->generation == number) return known_as(*h.next, h.live.generation);
  remote_filter names = h.live;
  names.generation = number;
  generation& lost = known_as(names, h.live.generation);
  lost.dead = true;
  return lost;
}

generations::generation& generations::known_as(const remote_filter& names, std::uint64_t parent) {
  const std::scoped_lock alone(lock_);
  auto& place = all_[names.generation];
  if (!place) {
    place = std::make_unique<generation>(names, parent);
    if (home_ != nullptr && all_.size() > 1) place->names.keeps_answers = home_->names.keeps_answers;
  }
  if (parent == 0) place->parent = 0;
  return *place;
}

/// A filter that was dropped, or has ended, is no damage.
generations::failure generations::why_gone(session& with, const batch_failure& damage) const {
  try {
    if (catalogue_.look_up(with, name_) == catalogue::listing::none)
      return batch_failure{damage.why,
                           "nothing knows the filter '" + name_ +
                               "' any more: it was dropped, or its server lost its data. " + damage.message,
                           {}};
    (void)catalogue_.read(with, name_);
    catalogue_.require_order(with, name_);
    return damage;
  } catch (const no_filter& e) {
    return storage_failure(e.what());
  } catch (const parameter_error& e) {  // no waiting mends the order of servers
    return batch_failure{batch_failure::cause::format, e.what(), {}};
  } catch (const error&) {
    return batch_failure::from_current_exception();
  }
}

std::vector<partition_task> generations::tasks_for(const session& with, generation& in,
                                                   std::span<const part> parts, purpose what,
                                                   bool even_if_closed) {
  std::vector<partition_task> tasks;
  tasks.reserve(parts.size());
  const std::scoped_lock alone(lock_);
  for (const part& p : parts)
    tasks.emplace_back(in.names, what, p.batch, in.known[p.batch.partition],
                       make_gear(gear_, in.names, with.name()),
                       partition_task::terms{p.also_in, even_if_closed});
  return tasks;
}

void generations::learn(generation& in, std::span<const part> parts, std::span<const partition_task> tasks) {
  const std::scoped_lock alone(lock_);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto& known = in.known[parts[i].batch.partition];
    // Another thread may have learned more meanwhile; after a failure nothing is certain.
    if (tasks[i].failure())
      known = nullptr;
    else if (tasks[i].known() && (!known || known->epoch < tasks[i].known()->epoch ||
                                  known->looked_at < tasks[i].known()->looked_at))
      known = tasks[i].known();
  }
}

}  // namespace everseen::redis
