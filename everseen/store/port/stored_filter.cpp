#include "everseen/store/port/stored_filter.hpp"

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"

namespace everseen {

batch_result stored_filter::add_after(std::span<const partition_batch> /*batches*/,
                                      const std::function<bool()>& /*effect*/) {
  throw parameter_error(
      "this filter may have other writers, so a key must be taken before anything is done for it");
}

void stored_filter::merge(std::uint32_t /*partition*/, std::span<const sibling_segment> /*siblings*/,
                          merging /*step*/) {
  throw parameter_error(
      "nothing can be merged into this filter: only filters in memory and in files that are open for writing "
      "take the keys of others; merge there, and import the export of the result");
}

std::unique_ptr<ledger> stored_filter::open_ledger(std::string_view job,
                                                   std::optional<std::string_view> description) {
  if (!description) return nullptr;
  throw parameter_error("the job " + quoted_name(job) +
                        " cannot be kept here: this filter has no jobs; give the job a filter "
                        "of everseen's own, in a store of its own kind");
}

}  // namespace everseen
