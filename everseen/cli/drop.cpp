#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "everseen/cli/numbers.hpp"
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

bool confirmed(const std::string& name) {
  fmt::print(stderr, "Drop '{}' and all it remembers? [y/N] ", name);
  const int answer = std::getchar();
  return answer == 'y' || answer == 'Y';
}

exit_code run(const options& o, printer&) {
  const auto place = chosen_store(o.store);
  if (!place->exists(o.name)) throw no_such_filter(o.name);
  if (!o.yes && ::isatty(STDIN_FILENO) != 0 && !confirmed(o.name)) return exit_code::negative;
  place->drop(o.name);
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
