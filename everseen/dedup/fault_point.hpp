#pragma once

#include <cstddef>
#include <string_view>

namespace everseen {

/// Called with the name of each step that a job or a run of deduplicate() reaches. Null except in tests,
/// which use it to prove that both are correct wherever they crash. Set it before any job begins.
///
/// The steps of a job, in the order of a batch: `read`, `claimed`, `half_put`, `put`, `half_committed` (a
/// transaction that has its offsets), `committed` (by the sink), `settled` (in the ledger), `half_shown` (by
/// a sink that shows only what is settled), `accounted` (by the source). Those of a block of deduplicate()
/// with adding_order::after_block: `half_put`, `put`, `settled` (its keys are added); at the end of a file
/// that the next run would continue: `kept` (it has its name).
using fault_hook = void (*)(std::string_view step) noexcept;
inline constinit fault_hook on_fault_point = nullptr;

/// Threads: any. Cost: one comparison.
inline void fault_point(std::string_view step) noexcept {
  if (on_fault_point != nullptr) on_fault_point(step);
}

/// Calls write(text); in a test in two halves, with the step between them.
template <typename Write>
void write_past_fault_point(std::string_view text, std::string_view step, Write write) {
  const std::size_t first = on_fault_point == nullptr ? text.size() : text.size() / 2;
  write(text.substr(0, first));
  if (first == text.size()) return;
  fault_point(step);
  write(text.substr(first));
}

}  // namespace everseen
