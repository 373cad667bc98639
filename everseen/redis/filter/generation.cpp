#include "everseen/redis/filter/generation.hpp"

#include <utility>

#include "everseen/core/base/tally_of.hpp"
#include "everseen/store/link/regrouped.hpp"
#include "everseen/store/port/batch_results.hpp"

namespace everseen::redis {

namespace {

/// The same batches, with other places for their verdicts.
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

batch_result generation::judge(keys batches, const judging& by) const {
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

}  // namespace everseen::redis
