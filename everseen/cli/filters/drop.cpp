#include <memory>
#include <optional>
#include <string>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/foreign/attached/attaching.hpp"
#include "everseen/store/port/known_filter.hpp"

namespace everseen::cli {

namespace {

struct drop_arguments {
  std::string name;
  store_choice store;
  bool yes = false;
};

/// The key of an attached filter, even if it cannot be opened; nothing for one of everseen's own.
std::optional<std::string> attached_key(const store_choice& choice, const std::string& name) {
  const auto servers = chosen_redis(choice);
  if (servers == nullptr) return {};
  try {
    if (const auto attached = redis::attachment_of(*servers, name)) return attached->key;
  } catch (const backend_error&) {
    throw;
  } catch (const error&) {
    // A damaged filter can still be dropped.
  }
  return {};
}

exit_code run_drop(const drop_arguments& o, printer& out) {
  const auto place = chosen_store(o.store);
  const auto key = attached_key(o.store, o.name);
  const std::string question = key ? "Forget that " + quoted_name(o.name) + " is attached? Its bits stay."
                                   : "Drop " + quoted_name(o.name) + " and all its keys?";
  if (!o.yes && !confirmed(question)) return exit_code::negative;
  with_known_filter(*place, o.name, [&] { place->drop(o.name); });
  if (key) out.print("forgot {}; {} stays as it is\n", shown_name(o.name), without_controls(*key));
  return exit_code::done;
}

}  // namespace

verb drop_verb() {
  return {"drop",
          "Delete a filter and all its keys",
          "Asks for confirmation at a terminal. An attached filter only loses its name here: its bits belong "
          "to another program and stay.",
          {{"Delete without being asked", "everseen drop clicks --yes", "everseen create clicks"}},
          [](option_set& known) -> action {
            auto o = std::make_shared<drop_arguments>();
            add_name(known, o->name, {"NAME", "the filter"});
            add_yes(known, o->yes);
            add_store_options(known, o->store, access::write);
            return [o](printer& out) { return run_drop(*o, out); };
          }};
}

}  // namespace everseen::cli
