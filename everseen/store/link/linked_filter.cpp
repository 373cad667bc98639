#include "everseen/store/link/linked_filter.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/spec/fitting_keys.hpp"

namespace everseen {

/// All keys of a call, as one batch for the older filter.
struct linked_filter::question {
  std::vector<std::string_view> keys{};
  std::vector<event_time> times{};
  std::vector<verdict> verdicts{};

  question(std::span<const partition_batch> batches, bool timed) {
    for (const partition_batch& batch : batches) {
      EVERSEEN_ASSERT(batch.keys.size() == batch.out.size());
      keys.insert(keys.end(), batch.keys.begin(), batch.keys.end());
      for (std::size_t i = 0; timed && i < batch.keys.size(); ++i)
        times.push_back(batch.times[batch.times.size() == 1 ? 0 : i]);
    }
    verdicts.assign(keys.size(), verdict::fresh);
  }
};

namespace {

/// A key that either filter has is `seen`, even if the newer one says `late`. `unknown` stays `unknown`.
tally join(std::span<const partition_batch> batches, const std::vector<verdict>& by_older) {
  tally sum;
  auto older = by_older.begin();
  for (const partition_batch& batch : batches) {
    for (verdict& v : batch.out)
      if (*older++ == verdict::seen && v != verdict::unknown) v = verdict::seen;
    sum += tally_of(batch.out);
  }
  return sum;
}

}  // namespace

linked_filter::linked_filter(std::string name, std::shared_ptr<stored_filter> newer, predecessor who,
                             std::shared_ptr<stored_filter> asked, time_source clock)
    : name_(std::move(name)),
      newer_(std::move(newer)),
      who_(std::move(who)),
      older_(std::move(asked)),
      clock_(std::move(clock)),
      hash_of_older_(older_->get_spec().hash, older_->get_spec().seed, older_->get_spec().foreign.funnel) {}

std::unique_ptr<ledger> linked_filter::open_ledger(std::string_view job,
                                                   std::optional<std::string_view> description) {
  if (!description) return nullptr;
  throw parameter_error(quoted_name(name_) + " asks " + quoted_name(who_.name) + " first, and the job " +
                        quoted_name(job) +
                        " needs a filter that judges alone; unlink it: everseen link --off " +
                        name_argument(name_) + ", or give the job a filter of its own");
}

batch_path linked_filter::path() const {
  batch_path newer = newer_->path();
  if (!is_over()) newer.asks_first = who_;
  return newer;
}

std::optional<batch_failure> linked_filter::ask_older(question& q) const {
  const stored_filter& older = *older_;
  const spec& s = older.get_spec();
  fitting_keys some;
  some.take(hash_of_older_, {q.keys, q.times, q.verdicts});
  const auto& [keys, times, out] = some.fitting();
  if (keys.empty()) return {};
  const partition_batch all{0, some.digests(), times, out, keys};
  batch_result asked;
  if (s.partitions == 1) {
    asked = older.check({&all, 1});
  } else {
    const regrouped sorted({&all, 1}, s.partitions, s.window.has_value());
    asked = older.check(sorted.batches());
    sorted.give_back();
  }
  asked = some.give_back(std::move(asked));
  // The older filter cannot contain a key that it cannot take.
  if (asked || asked.error().why == batch_failure::cause::key) return {};
  batch_failure failure = std::move(asked.error());
  failure.message = quoted_name(name_) + " asks " + quoted_name(who_.name) +
                    " first, which does not answer: " + failure.message;
  return failure;
}

template <typename Judge>
batch_result linked_filter::judge(std::span<const partition_batch> batches, Judge by_newer) const {
  if (is_over()) return by_newer(std::vector<verdict>{});
  question q(batches, older_->get_spec().window.has_value());
  if (q.keys.empty()) return by_newer(q.verdicts);
  if (auto failure = ask_older(q)) {
    for (const partition_batch& batch : batches) std::ranges::fill(batch.out, verdict::unknown);
    failure->done = {};
    failure->done.unknown = q.keys.size();
    return tl::unexpected(*std::move(failure));
  }
  batch_result judged = by_newer(q.verdicts);
  const tally sum = join(batches, q.verdicts);
  if (judged) return sum;
  judged.error().done = sum;
  return judged;
}

batch_result linked_filter::add(std::span<const partition_batch> batches) {
  return judge(batches, [&](const auto&) { return newer_->add(batches); });
}

batch_result linked_filter::add_after(std::span<const partition_batch> batches,
                                      const std::function<bool()>& effect) {
  return judge(batches, [&](const std::vector<verdict>& by_older) {
    return newer_->add_after(batches, [&] {
      if (!by_older.empty()) join(batches, by_older);
      return effect();
    });
  });
}

batch_result linked_filter::check(std::span<const partition_batch> batches) const {
  return judge(batches, [&](const auto&) { return std::as_const(*newer_).check(batches); });
}

regrouped::regrouped(std::span<const partition_batch> batches, std::uint32_t partitions, bool timed,
                     which keys)
    : groups_(partitions) {
  for (const partition_batch& batch : batches)
    for (std::size_t i = 0; i < batch.digests.size(); ++i) {
      if (keys == which::unknown && batch.out[i] != verdict::unknown) continue;
      group& target = groups_[partition_of(batch.digests[i], partitions)];
      target.digests.push_back(batch.digests[i]);
      target.wanted_at.push_back(&batch.out[i]);
      if (!batch.keys.empty()) target.keys.push_back(batch.keys[i]);
      if (timed) target.times.push_back(batch.times[batch.times.size() == 1 ? 0 : i]);
    }
  for (std::uint32_t p = 0; p < partitions; ++p) {
    group& g = groups_[p];
    if (g.digests.empty()) continue;
    g.verdicts.assign(g.digests.size(), verdict::unknown);
    batches_.push_back({p, g.digests, g.times, g.verdicts, g.keys});
  }
}

void regrouped::give_back() const noexcept {
  for (const group& g : groups_)
    for (std::size_t i = 0; i < g.verdicts.size(); ++i) *g.wanted_at[i] = g.verdicts[i];
}

namespace {

std::string end_it(std::string_view newer) {
  return "; end that with: everseen link --off " + name_argument(newer);
}

}  // namespace

std::string asker_of(const filter_links& all, std::string_view older) {
  const auto found = std::ranges::find(all, older, [](const filter_link& l) { return l.older.name; });
  return found == all.end() ? std::string() : found->newer;
}

std::optional<predecessor> asked_first(const filter_links& all, std::string_view newer) {
  const auto found = std::ranges::find(all, newer, &filter_link::newer);
  if (found == all.end()) return std::nullopt;
  return found->older;
}

void require_linkable(const filter_links& all, const named_spec& older, const named_spec& newer) {
  const std::string old = quoted_name(older.name), replacement = quoted_name(newer.name);
  if (older.name == newer.name)
    throw parameter_error("a filter cannot be linked to itself; name the old one and then the new one");
  if (const auto asks = asked_first(all, older.name))
    throw parameter_error(old + " itself asks " + quoted_name(asks->name) +
                          " first; only one older filter is asked");
  if (const auto asks = asked_first(all, newer.name); asks && asks->name != older.name)
    throw parameter_error(replacement + " asks " + quoted_name(asks->name) + " first" + end_it(newer.name));
  if (const std::string asker = asker_of(all, newer.name); !asker.empty())
    throw parameter_error(replacement + " is asked by " + quoted_name(asker) +
                          "; only one older filter is asked");
  if (const std::string asker = asker_of(all, older.name); !asker.empty() && asker != newer.name)
    throw parameter_error(old + " is asked by " + quoted_name(asker) + " already" + end_it(asker));
  if (older.properties.window && !newer.properties.window)
    throw parameter_error(old + " has a window and " + replacement +
                          " has none, so the keys would have no times");
}

void require_unasked(const filter_links& all, std::string_view name) {
  if (const std::string asker = asker_of(all, name); !asker.empty())
    throw parameter_error(quoted_name(asker) + " asks " + quoted_name(name) + " first" + end_it(asker));
}

void require_unlinked(const filter_links& all, std::string_view name) {
  require_unasked(all, name);
  if (const auto asks = asked_first(all, name))
    throw parameter_error(quoted_name(name) + " asks " + quoted_name(asks->name) + " first" + end_it(name));
}

void refuse_unlinked(std::string_view newer) {
  throw parameter_error(quoted_name(newer) + " is linked to no filter");
}

std::string why_not_opened(std::string_view newer, std::string_view older, const char* why) {
  return quoted_name(newer) + " asks " + quoted_name(older) + " first, which cannot be opened: " + why +
         ". Restore it, or continue without it: everseen link --off " + name_argument(newer);
}

std::optional<event_time> end_of_link(event_time current_time,
                                      std::optional<std::chrono::milliseconds> life) noexcept {
  if (!life || event_time::max() - current_time <= *life) return std::nullopt;
  return current_time + *life;
}

}  // namespace everseen
