#include "everseen/jobs/job.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/fault_point.hpp"
#include "everseen/jobs/job_marks.hpp"

namespace everseen {

namespace {

/// How long a job's threads wait before they check whether it is to end.
constexpr std::chrono::milliseconds queue_wait{20};
/// How long the reading thread waits for room before it calls keep_alive().
constexpr std::chrono::milliseconds a_while{200};

/// The first line of a table may be its header.
const char* header_hint(const bad_record& bad) {
  const bool is_delimited = !bad.field.empty() && !bad.field.starts_with('/');
  return bad.position == 0 && is_delimited ? "; or give --header, if that line names the fields" : "";
}

}  // namespace

job::job(job_parts parts, job_options options)
    : parts_(parts),
      options_(std::move(options)),
      reader_(options_.events, parts_.seen, options_.reading),
      queue_(options_.batches_ahead) {}
job::~job() = default;

void job::run() {
  begin();
  reading_ = std::jthread([this](const std::stop_token& ended) { read(ended); });
  try {
    settle_all();
  } catch (...) {
    end_reading();
    throw;
  }
}

void job::begin() {
  auto known = parts_.book.checkpoints();
  const auto mark = known.find(options_.sink_name);
  const bool goes_on = mark != known.end() && mark->second.position == options_.sink_order;
  const std::string last = goes_on ? mark->second.note : std::string();
  std::erase_if(known, [](const auto& each) { return !job_marks::is_of_a_lane(each.first); });
  for (const auto& [name, position] : known) lanes_[name].settled = position.position;
  parts_.from.begin(known);
  sink_is_new_ = !goes_on && !options_.sink_name.empty();
  if (parts_.target != nullptr) begin_sink(last);
  settled_at_ = std::chrono::steady_clock::now();
}

void job::begin_sink(const std::string& note) {
  parts_.target->begin(note);
  if (!note.empty()) return;
  sink_note_ = parts_.target->commit({});
  sink_is_new_ |= !sink_note_.empty();
}

void job::read(const std::stop_token& ended) {
  try {
    read_all();
    queue_.close();
    keep_alive(ended);
  } catch (...) {
    read_failure_ = std::current_exception();
  }
  queue_.close();
}

/// The last records are yet to be settled. A source that nobody asked meanwhile would lose its lanes.
void job::keep_alive(const std::stop_token& ended) {
  std::mutex alone;
  std::condition_variable_any pause;
  for (std::unique_lock lock(alone);;) {
    pause.wait_for(lock, ended, a_while, [] { return false; });
    if (ended.stop_requested()) return;
    parts_.from.keep_alive();
  }
}

void job::end_reading() {
  stopping_ = true;
  queue_.close();
  reading_.request_stop();
  if (reading_.joinable()) reading_.join();
}

void job::read_all() {
  while (!stopping_) {
    source_batch records;
    const source::state got = parts_.from.next(records, queue_wait);
    if (got == source::state::ended) return;
    if (got == source::state::nothing_yet) continue;
    event_batch batch = reader_.read(std::move(records));
    fault_point("read");
    const bool last = batch.stops_at.has_value();
    while (!queue_.push(batch, a_while)) {
      if (stopping_) return;
      parts_.from.keep_alive();
    }
    if (last) return;
  }
}

void job::settle_all() {
  try {
    while (settle_next()) continue;
  } catch (const backend_error&) {
    end_after_failure(if_unavailable::fail);
    throw;
  } catch (...) {
    end_after_failure(if_unavailable::later);
    throw;
  }
  settle(if_unavailable::fail);
  leave();
  if (read_failure_) std::rethrow_exception(read_failure_);
}

/// Settles what was put out before a failure. If that is impossible now, the next run gets the same
/// verdicts. If the sink failed halfway, nothing is settled: the sink may have more than `reached_` says,
/// and would keep it. The caller gets the original failure.
/// @param then  fail: a server is unavailable, and is not to be waited for again during an orderly exit
void job::end_after_failure(if_unavailable then) {
  try {
    if (sink_is_whole_) settle(if_unavailable::fail);
    if (then == if_unavailable::fail) return;
    leave();
  } catch (const error&) {
  }
}

/// @return false  the job is to end
bool job::settle_next() {
  auto batch = queue_.pop(queue_wait);
  if (batch) {
    if (!deal_with(*batch)) return false;
    if (batch->stops_at) {
      settle(if_unavailable::fail);
      throw format_error(parts_.from.place_of(batch->from.lane, batch->stops_at->position) + ' ' +
                         to_string(*batch->stops_at) +
                         "; --bad-events skip skips such records, --bad-events FILE keeps them there" +
                         header_hint(*batch->stops_at));
    }
  } else if (queue_.has_ended()) {
    return false;
  }
  if (std::chrono::steady_clock::now() >= settled_at_ + options_.settle_every ||
      unsettled_events_ >= options_.most_unsettled || is_waited_for() || (!batch && has_ended_lane_))
    settle(if_unavailable::later);
  report();
  return true;
}

/// Whether another worker gets a lane once the put records of that lane are settled.
bool job::is_waited_for() const {
  return std::ranges::any_of(reached_, [this](const auto& each) {
    return parts_.from.ownership_of(each.first, lanes_.at(each.first).generation) ==
           source::ownership::leaving;
  });
}

/// Leaves batches that were read and not claimed to the next run. They must not be claimed after an abandoned
/// batch: the ledger considers every event before a judged one judged.
void job::leave() {
  stopping_ = true;
  while (!queue_.has_ended())
    if (const auto batch = queue_.pop(queue_wait)) parts_.from.abandoned(batch->from);
  end_reading();
  parts_.from.finish();
}

void job::report() {
  if (!options_.progress) return;
  result_.lag = parts_.from.lag();
  options_.progress(result_);
}

}  // namespace everseen
