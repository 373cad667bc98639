#include <memory>
#include <string>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/store/port/known_filter.hpp"

namespace everseen::cli {

namespace {

struct reset_arguments {
  std::string name;
  store_choice store;
  bool yes = false;
};

exit_code run_reset(const reset_arguments& o, printer&) {
  const auto place = chosen_store(o.store);
  if (!o.yes && !confirmed("Remove all keys of " + quoted_name(o.name) + "?")) return exit_code::negative;
  with_known_filter(*place, o.name, [&] { place->reset(o.name); });
  return exit_code::done;
}

}  // namespace

verb reset_verb() {
  return {
      "reset",
      "Remove all keys of a filter",
      "The filter keeps its properties. Asks for confirmation at a terminal.\n\nA filter on Redis may be in "
      "use: each of its partitions is emptied in one step, and other clients continue with the empty filter. "
      "A filter in files must not be open for writing; readers continue.",
      {{"Begin anew", "everseen reset clicks --yes", "everseen create clicks; everseen add clicks alice"}},
      [](option_set& known) -> action {
        auto o = std::make_shared<reset_arguments>();
        add_name(known, o->name, {"NAME", "the filter"});
        add_yes(known, o->yes);
        add_store_options(known, o->store, access::write);
        return [o](printer& out) { return run_reset(*o, out); };
      }};
}

}  // namespace everseen::cli
