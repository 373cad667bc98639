#pragma once

#include "everseen/cli/terminal/progress.hpp"
#include "everseen/filter/filter.hpp"

namespace everseen::cli {

/// Loads the bits of a filter whose keys this process judges, one partition after the other, and shows the
/// progress. Otherwise the first lines would wait for the bits without any message.
///
/// Does nothing for small filters and for those whose bits stay elsewhere. Does not throw: what fails here
/// fails again with the first batch, where the policy for outages applies.
void load_with_progress(const filter& f, progress_line& line) noexcept;

}  // namespace everseen::cli
