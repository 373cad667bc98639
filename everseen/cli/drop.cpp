#include <memory>
#include <string>

#include "everseen/cli/options.hpp"
#include "everseen/cli/printer.hpp"
#include "everseen/cli/stores.hpp"
#include "everseen/cli/verbs.hpp"

namespace everseen::cli {

namespace {

struct options {
  std::string name;
  store_choice store;
  bool yes = false;
};

exit_code run(const options& o, printer&) {
  const auto place = chosen_store(o.store);
  if (!o.yes && !confirmed("Drop '" + o.name + "' and all it remembers?")) return exit_code::negative;
  with_known_filter(*place, o.name, [&] { place->drop(o.name); });
  return exit_code::done;
}

}  // namespace

verb drop_verb() {
  return {"drop",
          "Delete a filter and all it remembers",
          "Asks first when you sit at a terminal.",
          {{"Delete without being asked", "everseen drop clicks --yes", "everseen create clicks"}},
          [](CLI::App& app) -> action {
            auto o = std::make_shared<options>();
            add_argument(app, o->name, {"NAME", "the filter"});
            add_switch(app, "-y,--yes", o->yes, "do not ask");
            add_store_option(app, o->store);
            return [o](printer& out) { return run(*o, out); };
          }};
}

}  // namespace everseen::cli
