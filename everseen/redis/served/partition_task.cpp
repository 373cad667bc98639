#include "everseen/redis/served/partition_task.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/script/script.hpp"

// A server that judges is asked about a partition in calls of at most 16,384 keys; this side knows nothing of
// a value but its key. After a lost answer the same call is sent again under its token, and the server
// repeats its verdicts. key_divider cuts a batch where a byte cannot name the slice; keys are judged in their
// order, so that changes no verdict. A claim is a call that also names the head of its lane's record: if the
// server finds another head, the client reads the record again, which says what became of the events. Bits,
// record and counters change in one command.

namespace everseen::redis {

namespace {

/// Why a server has no room for a key: the first layer that a filter of this spec cannot have.
std::string reason_of_no_room(const spec& s) {
  if (s.growth == growth_kind::refuse) return growth::no_room(s).what();
  try {
    for (unsigned layer = 1;; ++layer) (void)growth::plan_layer(s, layer);
  } catch (const full_error& why) {
    return why.what();
  }
}

}  // namespace

partition_task::partition_task(packed_commands commands, purpose intent, const partition_batch& batch,
                               std::unique_ptr<lane_claim> claim)
    : commands_(std::move(commands)),
      purpose_(intent),
      batch_(batch),
      claim_(std::move(claim)),
      divider_(filter().spec, batch.times, intent == purpose::add) {
  std::ranges::fill(batch_.out, verdict::unknown);
  if (purpose_ == purpose::check) sort_by_slice();
  plan();
}

/// A call holds slices of a limited range. Keys of very different times would need many calls, but a look-up
/// may take them in any order.
void partition_task::sort_by_slice() {
  if (!filter().spec.window || batch_.times.size() < 2) return;
  packed_keys all;
  if (divider_.divide(0, batch_.digests.size(), all) == batch_.digests.size()) return;
  places_.resize(batch_.digests.size());
  std::iota(places_.begin(), places_.end(), std::uint32_t{0});
  std::ranges::sort(places_, {}, [&](std::uint32_t i) { return batch_.times[i]; });
  for (const std::uint32_t place : places_) {
    sorted_.push_back(batch_.digests[place]);
    times_.push_back(batch_.times[place]);
  }
  batch_.digests = sorted_;
  batch_.times = times_;
  divider_ = key_divider(filter().spec, times_, false);
}

/// Prepares the call about the next keys.
void partition_task::plan() {
  if (done()) return;
  question_.partition = batch_.partition;
  question_.adding = purpose_ == purpose::add;
  question_.claim = claim_.get();
  if (question_.adding) question_.sequence = next_sequence();
  const std::size_t count =
      divider_.divide(from_, std::min(packed_keys_a_call, batch_.digests.size() - from_), question_);
  question_.digests = batch_.digests.subspan(from_, count);
  question_.first = from_;
}

request partition_task::next() const {
  EVERSEEN_ASSERT(!done());
  return commands_.ask(question_);
}

void partition_task::take(const answer& a) {
  const packed_answer reply = commands_.answered(question_, a);
  if (reply.successor) successor_ = reply.successor;
  switch (reply.outcome) {
    case packed_answer::kind::done:
      return take_verdicts(reply.verdicts);
    case packed_answer::kind::sealed:
      detour_ = reason::sealed;
      failure_ = std::move(full_);
      return;
    case packed_answer::kind::claimed:
      detour_ = reason::claimed;
      return;
    case packed_answer::kind::ended:
      detour_ = reason::ended;
      return;
    case packed_answer::kind::failed:
      failure_ = reply.failure;
      return;
  }
}

void partition_task::take_verdicts(std::string_view verdicts) {
  bool no_room = false;
  for (const char c : verdicts) {
    const auto v = static_cast<verdict>(c - '0');
    no_room = no_room || v == verdict::unknown;
    batch_.out[places_.empty() ? from_ : places_[from_]] = v;
    ++from_;
  }
  if (no_room && !full_)
    full_ = batch_failure{batch_failure::cause::full, reason_of_no_room(filter().spec), {}};
  // Events after one that found no room must not be claimed before it.
  if (from_ == batch_.digests.size() || (full_ && claim_)) {
    failure_ = std::move(full_);
    return;
  }
  plan();
}

}  // namespace everseen::redis
