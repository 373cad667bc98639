#include "everseen/serve/registry/judge_batch.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/registry/filter_budget.hpp"

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

namespace {

constexpr std::string_view out_of_memory = "OOM command not allowed when used memory > 'maxmemory'.";

}  // namespace

std::string text_of(const batch_failure& failure, const spec& properties) {
  if (failure.why == batch_failure::cause::full && failure.code == ENOMEM)
    return std::string(out_of_memory) + ' ' + failure.message;
  if (failure.why == batch_failure::cause::full)
    return properties.growth == growth_kind::refuse ? std::string(filter_is_full)
                                                    : "ERR problem inserting into filter: " + failure.message;
  if (failure.why == batch_failure::cause::key) return "ERR " + failure.message;
  return "OUTAGE " + failure.message;
}

std::string text_of_unknown(const filter& judge, std::string_view key, const std::string& fault) {
  const auto reason = judge.refusal_of(key);
  return reason ? "ERR " + *reason : fault;
}

std::string text_of_current_exception() {
  try {
    throw;
  } catch (const refusal& why) {
    return why.text;
  } catch (const name_taken&) {
    return "ERR item exists";
  } catch (const no_room& why) {
    return std::string(out_of_memory) + ' ' + why.what();
  } catch (const parameter_error& why) {
    return std::string("ERR ") + why.what();
  } catch (const full_error& why) {
    if (why.code() == ENOMEM) return std::string(out_of_memory) + ' ' + why.what();
    return std::string("ERR problem inserting into filter: ") + why.what();
  } catch (const format_error& why) {
    return std::string("DAMAGED ") + why.what();
  } catch (const error& why) {
    return std::string("OUTAGE ") + why.what();
  } catch (const std::bad_alloc&) {
    return std::string(out_of_memory);
  } catch (const std::exception& why) {
    return std::string("ERR this is a bug: ") + why.what();
  }
}

}  // namespace everseen::serve
