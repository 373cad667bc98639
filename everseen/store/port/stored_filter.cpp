#include "everseen/store/port/stored_filter.hpp"

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"

namespace everseen {

std::unique_ptr<ledger> stored_filter::open_ledger(std::string_view job,
                                                   std::optional<std::string_view> description) {
  if (!description) return nullptr;
  throw parameter_error("the job " + quoted_name(job) +
                        " cannot be kept here: this filter has no jobs; give the job a filter "
                        "of everseen's own, in a store of its own kind");
}

}  // namespace everseen
