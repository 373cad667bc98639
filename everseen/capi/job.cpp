#include <algorithm>
#include <functional>
#include <limits>
#include <span>

#include "everseen/capi/handles.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/filter/scatter.hpp"

// Jobs: events that take effect once.
namespace everseen::capi {
namespace {

/// Claims one part of a call's events.
struct claiming {
  everseen_job& job;
  lane_progress from;
  std::span<const std::string_view> keys;
  std::span<const std::uint64_t> positions;
  std::span<const event_time> times;

  [[nodiscard]] batch_result run(std::span<verdict> out, std::span<std::uint8_t> before) const {
    std::vector<digest> digests;
    for (const std::string_view key : keys) digests.push_back(job.filter.hash()(key));
    claim_scatter scatter;
    const auto batches = scatter.sort({digests, positions, times}, job.filter.get_spec().partitions);
    batch_result claimed = job.ledger->claim(from, batches);
    scatter.gather(out, before);
    return claimed;
  }
};

/// The position after that of the last event. 2^64 - 1 is refused, as it is mostly -1, an error of the
/// caller.
constexpr std::uint64_t max_settled = std::numeric_limits<std::uint64_t>::max() - 1;

void claim(everseen_job& job, std::string_view source, std::span<const everseen_slice> keys,
           std::span<const std::uint64_t> positions, std::span<const event_time> times, verdict* verdicts,
           std::uint8_t* before) {
  if (!std::ranges::is_sorted(positions, std::ranges::less_equal{}))
    throw parameter_error("the positions of events must ascend");
  if (positions.back() >= max_settled)
    throw parameter_error("an event has a position of more than 2^64 - 3, which could not be settled");
  job.filter.must_accept(times);
  std::uint64_t settled = 0;
  {
    const std::scoped_lock alone(job.lock);
    if (const auto found = job.settled.find(source); found != job.settled.end()) settled = found->second;
  }
  std::vector<std::uint8_t> ignored;
  std::vector<std::string_view> views;
  for (std::size_t from = 0; from < keys.size(); from += keys_at_once) {
    const std::size_t some = std::min(keys_at_once, keys.size() - from);
    views.clear();
    for (const everseen_slice& key : keys.subspan(from, some)) views.push_back(key_in(key.bytes, key.length));
    ignored.resize(some);
    const claiming part{job,
                        {source, settled},
                        views,
                        positions.subspan(from, some),
                        times.size() > 1 ? times.subspan(from, some) : times};
    const batch_result claimed = part.run(
        {verdicts + from, some}, before != nullptr ? std::span(before + from, some) : std::span(ignored));
    if (!claimed) claimed.error().raise();
  }
}

}  // namespace
}  // namespace everseen::capi

namespace capi = everseen::capi;

everseen_status everseen_open_job(everseen_filter* filter, const char* name, const char* description,
                                  everseen_job** job) {
  return capi::guarded([&] {
    capi::must_not_be_null(job, "job");
    *job = nullptr;
    capi::must_not_be_null(filter, "filter");
    capi::must_not_be_null(name, "name");
    const std::string_view told = description != nullptr ? description : "";
    std::unique_ptr<everseen_job> opened(new everseen_job{
        filter->filter, filter->filter.stored().open_ledger(everseen::typed_name(name), told),
        filter->has_window});
    for (const auto& [source, reached] : opened->ledger->checkpoints())
      opened->settled.emplace(source, reached.position);
    *job = opened.release();
  });
}

void everseen_close_job(everseen_job* job) {
  delete job;
}

everseen_status everseen_end_job(everseen_filter* filter, const char* name) {
  return capi::guarded([&] {
    capi::must_not_be_null(filter, "filter");
    capi::must_not_be_null(name, "name");
    if (filter->mode == everseen::access::read)
      throw everseen::parameter_error("the filter was opened for checks; open it for writing to end a job");
    filter->place->end_job(filter->filter.name(), everseen::typed_name(name));
  });
}

everseen_status everseen_claim(everseen_job* job, const char* source, const everseen_slice* keys,
                               const uint64_t* positions, size_t count, const int64_t* times,
                               size_t times_count, uint8_t* verdicts, uint8_t* claimed_before) {
  if (verdicts != nullptr) std::fill_n(verdicts, count, std::uint8_t{EVERSEEN_UNKNOWN});
  if (claimed_before != nullptr) std::fill_n(claimed_before, count, std::uint8_t{0});
  return capi::guarded([&] {
    capi::must_not_be_null(job, "job");
    capi::must_not_be_null(source, "source");
    if (count == 0) return;
    capi::must_not_be_null(keys, "keys");
    capi::must_not_be_null(positions, "positions");
    capi::must_not_be_null(verdicts, "verdicts");
    const auto when = capi::times_of(job->has_window, {times, times_count}, count);
    capi::claim(*job, source, {keys, count}, {positions, count}, when,
                reinterpret_cast<everseen::verdict*>(verdicts), claimed_before);
  });
}

everseen_status everseen_settle(everseen_job* job, const char* source, uint64_t position) {
  return capi::guarded([&] {
    capi::must_not_be_null(job, "job");
    capi::must_not_be_null(source, "source");
    if (position > capi::max_settled)
      throw everseen::parameter_error(
          "a position of 2^64 - 1 cannot be settled: settle the one after the last event");
    const everseen::checkpoint reached{source, position};
    job->ledger->settle({&reached, 1});  // requires no current position, so it cannot be refused
    const std::scoped_lock alone(job->lock);
    job->settled.insert_or_assign(source, position);
  });
}

everseen_status everseen_settled(const everseen_job* job, const char* source, uint64_t* position) {
  return capi::guarded([&] {
    capi::must_not_be_null(position, "position");
    *position = 0;
    capi::must_not_be_null(job, "job");
    capi::must_not_be_null(source, "source");
    const auto all = job->ledger->checkpoints();
    if (const auto found = all.find(std::string_view(source)); found != all.end())
      *position = found->second.position;
  });
}
