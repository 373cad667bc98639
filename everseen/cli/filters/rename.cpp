#include <memory>
#include <string>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::cli {

namespace {

struct options {
  std::string from;
  std::string to;
  store_choice store;
  bool replace = false;
  bool quiet = false;
};

exit_code run(const options& o, printer& out) {
  const auto place = chosen_store(o.store);
  try {
    with_known_filter(*place, o.from, [&] {
      place->rename(o.from, o.to, o.replace ? store::namesake::replace : store::namesake::refuse);
    });
  } catch (const name_taken&) {
    throw name_taken("a filter named '" + o.to +
                     "' exists already; choose another name, or give --replace to have it removed");
  }
  if (!o.quiet) out.print("{} is called {} now\n", o.from, o.to);
  return exit_code::done;
}

}  // namespace

verb rename_verb() {
  return {
      "rename",
      "Give a filter another name",
      "It keeps all else: its keys, its jobs, its end. If there is a filter of the new name already, "
      "nothing is "
      "done, unless --replace is given: then that one is removed, so that a filter that was filled aside "
      "takes the "
      "place of the one in use. Which of the two is found under the new name changes at one moment; a "
      "process "
      "that dies on the way leaves the filter under one of its two names.\n\n"
      "On Redis others may use the filter meanwhile, and continue under its new name; who has the filter "
      "open that is removed is told so. In files nobody may write to it. A filter that is linked keeps its "
      "name.",
      {{"Put a new filter in the place of the old one", "everseen rename clicks-new clicks --replace",
        "everseen create clicks; everseen create clicks-new"}},
      [](option_set& known) -> action {
        auto o = std::make_shared<options>();
        add_argument(known, o->from, {"NAME", "the filter"});
        add_argument(known, o->to, {"NEW", "the name that it is to have"});
        add_switch(known, "--replace", o->replace, "remove the filter that has the new name");
        add_switch(known, "-q,--quiet", o->quiet, "do not print what was done");
        add_store_option(known, o->store);
        return [o](printer& out) { return run(*o, out); };
      }};
}

}  // namespace everseen::cli
