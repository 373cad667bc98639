#include "everseen/store/port/filter_admin.hpp"

#include <algorithm>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"

namespace everseen {

no_filter no_such_filter(std::string_view name) {
  return no_filter("there is no filter named " + quoted_name(name) + "; make one with: everseen create " +
                   name_argument(name));
}

name_taken filter_exists(std::string_view name) {
  return name_taken("a filter named " + quoted_name(name) +
                    " exists already; choose another name, or drop it first");
}

filter_expired filter_has_expired(std::string_view name) {
  return filter_expired("the filter " + quoted_name(name) + " has expired; make one with: everseen create " +
                        name_argument(name));
}

parameter_error no_such_job(std::string_view filter, std::string_view job) {
  return parameter_error("the filter " + quoted_name(filter) + " has no job named " + quoted_name(job) +
                         "; everseen jobs " + name_argument(filter) + " lists its jobs");
}

void require_no_jobs(std::string_view filter, std::span<const std::string> jobs, std::string_view subject) {
  if (jobs.empty()) return;
  std::string names;
  for (const std::string& job : jobs) names += (names.empty() ? "" : ", ") + shown_name(job);
  throw parameter_error(
      quoted_name(filter) + " has jobs (" + names + ") and cannot " + std::string(subject) +
      ": the answers that the jobs were given must stay true. Create another filter for new "
      "keys, or drop this one when its jobs are done");
}

void require_rebuildable(const spec& old, const spec& next) {
  if (old.hash != next.hash || old.seed != next.seed)
    throw parameter_error(
        "the copy is of another filter: it hashes keys with another seed. Rebuild from keys, or from a copy "
        "of this filter");
  if (old.window != next.window)
    throw parameter_error("a rebuild cannot change the window of a filter; create another one");
}

void validate_job_name(std::string_view job) {
  try {
    validate_filter_name(job);
  } catch (const parameter_error& e) {
    throw parameter_error("the job " + quoted_name(job) + " cannot have this name: " + e.what());
  }
}

void restore_layer(partition_state& state, const segment_id& id, const layer_state& layer) {
  auto& slices = state.slices;
  auto found = std::lower_bound(slices.begin(), slices.end(), id.slice,
                                [](const slice_state& s, window::slice_index i) { return s.index < i; });
  if (found == slices.end() || found->index != id.slice)
    found = slices.insert(found, slice_state{id.slice, {}});
  if (found->layers.size() != id.layer)
    throw format_error("the layers of partition " + std::to_string(id.partition) +
                       " are out of order or incomplete; make the image again");
  found->layers.push_back(layer);
}

}  // namespace everseen
