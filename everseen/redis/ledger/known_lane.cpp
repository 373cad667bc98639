#include "everseen/redis/ledger/known_lane.hpp"

#include <algorithm>

#include "everseen/core/window.hpp"
#include "everseen/store/claims.hpp"

namespace everseen::redis {

known_lane& known_lanes::operator[](std::string_view source) {
  const std::scoped_lock alone(lock_);
  auto found = all_.find(source);
  if (found == all_.end()) {
    auto made = std::make_unique<known_lane>(known_lane{std::string(source), {}, {}});
    made->records.resize(partitions_);
    made->answered.resize(partitions_);
    found = all_.emplace(std::string(source), std::move(made)).first;
  }
  return *found->second;
}

backend_error claimed_by_others(const std::string& source) {
  return backend_error("somebody else claims the events of '" + source +
                       "' for the same job faster than this process; end one of the two");
}

format_error has_forgotten_events(const std::string& key, const std::string& source) {
  return format_error("the server of '" + key + "' has forgotten events of '" + source +
                      "' that it had answered for: it was started again without 'appendfsync always', or a "
                      "replica that lagged took its place. Counters may be too low: count again from the "
                      "beginning, into a new filter");
}

fresh_replays::fresh_replays(const claim_batch& of, const lane_record& record) {
  for (std::size_t i = 0; i < of.positions.size() && record.has_judged(of.positions[i]); ++i) {
    if (!record.was_fresh(of.positions[i])) continue;
    digests.push_back(of.keys.digests[i]);
    if (!of.keys.times.empty()) times.push_back(of.keys.times[of.keys.times.size() == 1 ? 0 : i]);
  }
}

void answer_those_judged(claim_batch& left, const lane_record& record, const spec& s,
                         std::span<const slice_state> slices, bool is_ours) {
  const auto claimed_before = left.claimed_before;
  answer_replays(left, record, [&](event_time t) {
    return s.window && !slices.empty() &&
           window::slice_at(*s.window, t) < window::oldest_live(*s.window, slices.back().index);
  });
  const std::size_t judged = claimed_before.size() - left.claimed_before.size();
  if (is_ours) std::ranges::fill(claimed_before.first(judged), std::uint8_t{0});
}

}  // namespace everseen::redis
