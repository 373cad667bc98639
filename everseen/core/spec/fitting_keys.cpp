#include "everseen/core/spec/fitting_keys.hpp"

#include <utility>

#include "everseen/core/base/assert.hpp"

namespace everseen {

namespace {

/// Copies the elements whose indexes are not in `left_out`.
template <typename Element>
void copy_others(std::span<const Element> from, std::span<const std::uint32_t> left_out,
                 std::vector<Element>& out) {
  out.clear();
  auto next = left_out.begin();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (next != left_out.end() && *next == i)
      ++next;
    else
      out.push_back(from[i]);
  }
}

}  // namespace

void fitting_keys::take(const hasher& hash, const batch& all) {
  EVERSEEN_ASSERT(all.out.size() == all.keys.size());
  all_ = all;
  fitting_ = all;
  misfits_.clear();
  count_ = all.keys.size();
  if (digests_.size() < count_) digests_.resize(count_);
  if (hash.takes_every_key()) return hash(all.keys, std::span(digests_).first(count_));
  count_ = 0;
  for (std::size_t i = 0; i < all.keys.size(); ++i) {
    if (const auto d = hash.try_hash(all.keys[i])) {
      digests_[count_++] = *d;
      continue;
    }
    if (misfits_.empty()) refusal_ = *hash.refusal_of(all.keys[i]);
    misfits_.push_back(static_cast<std::uint32_t>(i));
  }
  if (!misfits_.empty()) leave_out_misfits();
}

void fitting_keys::leave_out_misfits() {
  copy_others(all_.keys, misfits_, keys_);
  fitting_.keys = keys_;
  if (all_.times.size() == all_.keys.size()) {  // also true for a single key with one time
    copy_others(all_.times, misfits_, times_);
    fitting_.times = times_;
  }
  verdicts_.assign(count_, verdict::unknown);
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
