#pragma once

#include "everseen/redis/script/script.hpp"

/// Scripts that create the keys of a filter before a name leads to it. Each can be repeated, and a delayed
/// copy that arrives when the filter is in use changes nothing.
namespace everseen::redis::draft_scripts {

/// Creates the state of a partition, unless it exists.
/// KEYS state    ARGV its time limit in ms, then fields and values    Returns 1 done, 0 it exists.
[[nodiscard]] const script& begin_state();

/// Makes the value of a partition that its server judges, unless it exists.
/// KEYS value    ARGV its time limit in ms, its header    Returns 1 done, 0 it exists.
[[nodiscard]] const script& begin_value();

/// Writes a page of a segment of a filter that its clients judge, as long as its partition has no state.
/// KEYS segment, state    ARGV offset of the page, its bytes, the segment's time limit in ms
/// Returns 1 done, 0 there is a state.
[[nodiscard]] const script& write_page();

/// Extends the life of a segment or of a value, unless it lives longer: then it may be in use.
/// KEYS segment or value    ARGV lifetime in ms    Returns 1; 0 it does not exist.
[[nodiscard]] const script& prolong();

}  // namespace everseen::redis::draft_scripts
