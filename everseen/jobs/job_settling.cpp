#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/dedup/fault_point.hpp"
#include "everseen/jobs/job.hpp"
#include "everseen/jobs/job_marks.hpp"

/// How a job settles what it has put out.
namespace everseen {

/// @return false  the store is unavailable, and the job continues without it: settle later
bool job::settle(if_unavailable then) {
  settled_at_ = std::chrono::steady_clock::now();
  unsettled_events_ = 0;
  has_ended_lane_ = false;
  if (reached_.empty()) return true;
  commit();
  try {
    while (!settle_in_ledger(all_reached())) {
      leave_settled();
      commit();
    }
  } catch (const backend_error&) {
    if (!sink_is_whole_ || then == if_unavailable::fail || options_.on_outage != job_options::outage::pass)
      throw;
    return false;
  }
  fault_point("settled");
  if (parts_.target != nullptr) {
    sink_is_whole_ = false;
    parts_.target->settled();
    sink_is_whole_ = true;
  }
  account();
  return true;
}

/// The ledger refused the settlement. Either another worker has the same lanes, or had them while this
/// process was stopped, and has settled some of these records; or this worker settled them and the answer
/// was lost. The sink's mark, which no other worker writes, distinguishes the two. Settled records are not
/// put here again; unsettled ones may still be.
void job::leave_settled() {
  const auto known = parts_.ledger.checkpoints();
  must_have_kept(known);
  const auto mark = known.find(options_.sink_name);
  sink_is_whole_ = false;
  parts_.target->leave_settled(mark == known.end() ? std::string_view() : mark->second.note, known);
  for (auto& [name, entry] : lanes_)
    if (const auto found = known.find(name); found != known.end())
      entry.settled = std::max(entry.settled, found->second.position);
  std::erase_if(reached_, [this](const auto& each) {
    const lane& entry = lanes_.at(each.first);
    // If the lane is settled up to here, the note that identifies its next batch must still be written.
    if (each.second.position > entry.settled || (each.second.position == entry.settled && entry.passed))
      return false;
    parts_.from.settled({&each.second, 1});
    return true;
  });
}

/// A ledger that went back would refuse every settlement from the position that this job knows.
/// @throws format_error
void job::must_have_kept(const std::map<std::string, checkpoint, std::less<>>& known) const {
  for (const auto& [name, position] : reached_) {
    const auto found = known.find(name);
    const std::uint64_t has = found == known.end() ? 0 : found->second.position;
    const std::uint64_t had = lanes_.at(name).settled;
    if (has < had)
      throw format_error(
          "the ledger has forgotten what was settled of '" + name + "': it has " + std::to_string(has) +
          ", and had " + std::to_string(had) +
          ": its server was restarted without 'appendfsync always', or a replica that lagged took its "
          "place. Events may be repeated: start over, with a new filter");
  }
}

void job::commit() {
  if (parts_.target != nullptr) {
    sink_is_whole_ = false;
    const std::size_t lanes = reached_.size();
    parts_.target->leave_lost(reached_);
    has_lost_events_ = has_lost_events_ || reached_.size() < lanes;
    for (auto& [name, entry] : lanes_)
      if (!reached_.contains(name)) entry.put = entry.settled;
    sink_note_ = parts_.target->commit(all_reached());
    sink_is_whole_ = true;
  }
  fault_point("committed");
}

/// Writes the positions, the matching note of the sink, and the time, in one step.
/// @return false  another worker has settled some of it
bool job::settle_in_ledger(std::vector<checkpoint> reached) const {
  if (!sink_note_.empty())
    for (checkpoint& each : reached) each.from = lanes_.find(each.lane)->second.settled;
  if (!options_.sink_name.empty()) reached.push_back({options_.sink_name, options_.sink_order, sink_note_});
  if (options_.reading.clock) {
    const auto current = options_.reading.clock().time_since_epoch();
    reached.push_back(
        {std::string(job_marks::last_settled), static_cast<std::uint64_t>(current.count()), {}});
  }
  return parts_.ledger.settle(reached);
}

void job::account() {
  const auto all = all_reached();
  parts_.from.settled(all);
  fault_point("accounted");
  for (const checkpoint& each : all) {
    lanes_[each.lane].settled = each.position;
    lanes_[each.lane].passed = false;
  }
  reached_.clear();
  const auto current = std::chrono::steady_clock::now();
  if (options_.settled)
    for (const auto since : unsettled_since_) options_.settled(current - since);
  unsettled_since_.clear();
}

std::vector<checkpoint> job::all_reached() const {
  std::vector<checkpoint> all;
  for (const auto& [name, position] : reached_) all.push_back(position);
  return all;
}

}  // namespace everseen
