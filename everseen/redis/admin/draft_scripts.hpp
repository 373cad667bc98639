#pragma once

#include "everseen/redis/script/script.hpp"

/// What makes the keys of a filter that nobody knows yet. Each can be made again, and a copy that comes late,
/// when the filter is in use, changes nothing.
namespace everseen::redis::draft_scripts {

/// Makes the state of a partition, unless it is there.
/// KEYS state    ARGV its time limit in ms, then fields and values    Returns 1 done, 0 it is there.
[[nodiscard]] const script& begin_state();

/// Writes a page of a segment, as long as its partition has no state.
/// KEYS segment, state    ARGV where the page begins, its bytes, the segment's time limit in ms
/// Returns 1 done, 0 there is a state.
[[nodiscard]] const script& write_page();

/// Lets a segment live for a time, unless it lives longer: then it may be in use.
/// KEYS segment    ARGV for how many ms    Returns 1; 0 it is not there.
[[nodiscard]] const script& prolong();

}  // namespace everseen::redis::draft_scripts
