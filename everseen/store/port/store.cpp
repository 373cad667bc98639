#include "everseen/store/port/store.hpp"

#include <string>
#include <vector>

#include "everseen/core/base/names.hpp"

namespace everseen {

spec store::plan(const spec_request& request) const {
  if (request.judge == judge_kind::client)
    throw parameter_error(
        "clients judge only filters on Redis; leave --judge out, or give --store redis://HOST");
  return make_spec(request);
}

namespace {

std::string nearest_in(const store& in, std::string_view name) {
  try {
    const std::vector<std::string> there = in.list();
    const std::vector<std::string_view> names(there.begin(), there.end());
    return std::string(nearest(name, names));
  } catch (const error&) {
    return {};  // that the name is unknown is worth more than why the others are
  }
}

}  // namespace

no_filter unknown_filter(const store& in, std::string_view name) {
  const std::string meant = nearest_in(in, name);
  return no_filter("there is no filter named " + quoted_name(name) + "; " +
                   (meant.empty() ? "everseen list shows those that there are, everseen create " +
                                        name_argument(name) + " makes one"
                                  : "did you mean " + quoted_name(meant) + "?"));
}

}  // namespace everseen
