#include "everseen/core/fitting_keys.hpp"

#include <utility>

#include "everseen/core/assert.hpp"

namespace everseen {

namespace {

/// The elements that do not stand at one of the places.
template <typename Element>
void copy_others(std::span<const Element> from, std::span<const std::uint32_t> left_out,
                 std::vector<Element>& to) {
  to.clear();
  auto next = left_out.begin();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (next != left_out.end() && *next == i)
      ++next;
    else
      to.push_back(from[i]);
  }
}

}  // namespace

void fitting_keys::take(const hasher& hash, const batch& all) {
  EVERSEEN_ASSERT(all.out.size() == all.keys.size());
  all_ = all;
  fitting_ = all;
  misfits_.clear();
  digests_.resize(all.keys.size());
  if (hash.takes_every_key()) return hash(all.keys, digests_);
  std::size_t fit = 0;
  for (std::size_t i = 0; i < all.keys.size(); ++i) {
    if (const auto d = hash.try_hash(all.keys[i])) {
      digests_[fit++] = *d;
      continue;
    }
    if (misfits_.empty()) refusal_ = *hash.refusal_of(all.keys[i]);
    misfits_.push_back(static_cast<std::uint32_t>(i));
  }
  digests_.resize(fit);
  if (!misfits_.empty()) leave_out_misfits();
}

void fitting_keys::leave_out_misfits() {
  copy_others(all_.keys, misfits_, keys_);
  fitting_.keys = keys_;
  if (all_.times.size() == all_.keys.size()) {  // also where one time is that of the only key
    copy_others(all_.times, misfits_, times_);
    fitting_.times = times_;
  }
  verdicts_.assign(digests_.size(), verdict::unknown);
  fitting_.out = verdicts_;
}

batch_result fitting_keys::give_back(batch_result judged) {
  if (misfits_.empty()) return judged;
  auto next_misfit = misfits_.begin();
  auto next_verdict = verdicts_.begin();
  for (std::size_t i = 0; i < all_.out.size(); ++i) {
    const bool misfit = next_misfit != misfits_.end() && *next_misfit == i;
    all_.out[i] = misfit ? verdict::unknown : *next_verdict++;
    if (misfit) ++next_misfit;
  }
  if (judged) judged = tl::unexpected(batch_failure{batch_failure::cause::key, refusal_, *judged});
  judged.error().done.unknown += misfits_.size();
  return judged;
}

}  // namespace everseen
