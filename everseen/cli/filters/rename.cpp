#include <memory>
#include <string>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/store/port/known_filter.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::cli {

namespace {

struct rename_arguments {
  std::string from;
  std::string new_name;
  store_choice store;
  bool replace = false;
  bool quiet = false;
};

exit_code run_rename(const rename_arguments& o, printer& out) {
  if (o.from == o.new_name)
    throw parameter_error("the filter " + quoted_name(o.from) + " has that name; give another one");
  const auto place = chosen_store(o.store);
  try {
    with_known_filter(*place, o.from, [&] {
      place->rename(o.from, o.new_name, o.replace ? store::namesake::replace : store::namesake::refuse);
    });
  } catch (const name_taken&) {
    throw name_taken("a filter named " + quoted_name(o.new_name) +
                     " exists already; choose another name, or give --replace to have it removed");
  }
  if (!o.quiet) out.print("{} is called {} now\n", shown_name(o.from), shown_name(o.new_name));
  return exit_code::done;
}

}  // namespace

verb rename_verb() {
  return {
      "rename",
      "Give a filter another name",
      "The filter keeps everything else: its keys, its jobs, its expiry time. If a filter of the new "
      "name exists, nothing happens, unless --replace is given: then the existing filter is removed, so "
      "that a filter that was filled aside takes the place of the one in use. The change is atomic; if "
      "the process crashes, the filter has one of its two names.\n\nOn Redis, other clients may use the "
      "filter meanwhile, and continue under its new name; clients of a removed filter get an error. Through "
      "everseen serve, clients that have it open get an error with their next batch. In files, no process "
      "may be writing to it. A linked filter cannot be renamed.",
      {{"Put a new filter in the place of the old one", "everseen rename clicks-new clicks --replace",
        "everseen create clicks; everseen create clicks-new"}},
      [](option_set& known) -> action {
        auto o = std::make_shared<rename_arguments>();
        add_name(known, o->from, {"NAME", "the filter"});
        add_name(known, o->new_name, {"NEW", "the new name"});
        add_switch(known, "--replace", o->replace, "remove the filter that has the new name");
        add_switch(known, "-q,--quiet", o->quiet, "do not print what was done");
        add_store_options(known, o->store, access::write);
        return [o](printer& out) { return run_rename(*o, out); };
      }};
}

}  // namespace everseen::cli
