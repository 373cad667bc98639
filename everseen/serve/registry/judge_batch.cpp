#include "everseen/serve/registry/judge_batch.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "everseen/core/base/outage.hpp"
#include "everseen/serve/registry/refusals.hpp"

namespace everseen::serve {

namespace {

/// Names of filters that do not answer; clients choose these names.
constexpr std::size_t most_remembered = 10'000;

}  // namespace

void batch_stats::note_outage(const std::string& filter, std::string_view why) {
  outages_.add(0, 1);
  {
    const std::scoped_lock alone(lock_);
    if (failing_.size() < most_remembered) failing_.insert(filter);
    failing_count_ = failing_.size();
  }
  if (log_)
    log_->write_sometimes(telemetry::log_level::error, "store_outage", {{"filter", filter}, {"why", why}});
}

void batch_stats::note_end_of_outage(const std::string& filter) {
  {
    const std::scoped_lock alone(lock_);
    if (failing_.erase(filter) == 0) return;
    failing_count_ = failing_.size();
  }
  if (log_) log_->write_sometimes(telemetry::log_level::info, "store_is_back", {{"filter", filter}});
}

batch_result judge(counted_filter asked, question q, std::span<const std::string_view> keys,
                   std::span<verdict> out, std::span<const event_time> times) {
  const auto began = duration_histogram::clock::now();
  if (asked.of_all.gives_up()) throw backend_error("the server is being stopped");
  try {
    batch_result result =
        q == question::add ? asked.handle.add(keys, out, times) : asked.handle.may_contain(keys, out, times);
    asked.of_all.took(q).note(duration_histogram::clock::now() - began);
    asked.own.note(q, result);
    asked.of_all.note_judged(q, result ? *result : result.error().done);
    if (result)
      asked.of_all.note_success(asked.handle.name());
    else if (is_outage(result.error()))
      asked.of_all.note_outage(asked.handle.name(), result.error().message);
    return result;
  } catch (const error& why) {
    asked.own.note_unanswered(q, keys.size(), is_outage(why));
    if (is_outage(why)) asked.of_all.note_outage(asked.handle.name(), why.what());
    throw;
  }
}

void judge(counted_filter asked, question q, key_batch& batch, std::optional<event_time> when) {
  judge(asked, q, batch, std::span<const event_time>(when ? &*when : nullptr, when ? 1 : 0));
}

void judge(counted_filter asked, question q, key_batch& batch, std::span<const event_time> times) {
  batch.verdicts.resize(batch.keys.size());
  batch_result result;
  try {
    result = judge(asked, q, batch.keys, batch.verdicts, times);
  } catch (const std::exception& e) {
    batch.fault = text_of_current_exception();
    // The store may detect only now that the filter is gone. Any other error is the system's: out of memory.
    batch.is_stale = dynamic_cast<const error*>(&e) != nullptr;
    batch.why.thrown = std::current_exception();
    std::fill(batch.verdicts.begin(), batch.verdicts.end(), verdict::unknown);
    return;
  }
  if (result) return;
  batch.fault = text_of(result.error(), asked.handle.get_spec());
  batch.is_stale = result.error().ends_batch();
  batch.why.failure = std::move(result).error();
}

}  // namespace everseen::serve
