#include <memory>
#include <optional>
#include <string>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"

namespace everseen::cli {

namespace {

struct link_arguments {
  std::string first;
  std::optional<std::string> second;
  std::optional<std::chrono::milliseconds> life;
  store_choice store;
  bool off = false;
  bool quiet = false;
};

exit_code run_link(const link_arguments& o, printer& out) {
  if (o.off && (o.second || o.life)) throw parameter_error("link --off takes one name: the newer filter's");
  if (!o.off && !o.second) throw parameter_error("link needs two names: the old filter and the new one");
  const auto place = chosen_store(o.store);
  if (o.off)
    place->unlink(o.first);
  else
    place->link(o.first, *o.second, o.life);
  if (o.quiet) return exit_code::done;
  if (o.off)
    out.print("{} no longer asks another filter\n", shown_name(o.first));
  else if (o.life)
    out.print("{} asks {} first, for {}\n", shown_name(*o.second), shown_name(o.first),
              format_duration(*o.life));
  else
    out.print("{} asks {} first\n", shown_name(*o.second), shown_name(o.first));
  return exit_code::done;
}

}  // namespace

verb link_verb() {
  constexpr std::string_view scene =
      "everseen attach uids --as gozero --bits 20971520 --key bloom:uids --create";
  constexpr std::string_view linked = "everseen create uids; everseen create uids2; everseen link uids uids2";
  return {"link",
          "Let a new filter ask an old one first",
          "Replaces a filter whose keys are not available. Every key is looked up in OLD before NEW, and is "
          "seen if either has it. Keys are added to NEW only, including those that OLD has. After some time "
          "NEW has all keys that still occur; then --off, or the end of --for, removes the link, and OLD may "
          "be dropped.\n\nOLD may be attached (its own program may continue to add keys), imported from a "
          "file of another system, or have another seed, window or layout. Both filters are in one store, of "
          "any kind. OLD cannot be dropped while it is linked; if it is unreadable, requests to NEW fail. "
          "In files, no process may be writing to NEW when it is linked. "
          "Clients that have NEW open notice a new link, or --off, only when they reopen it; the end of "
          "--for takes effect immediately.\n\nWhile the filters are linked, their error rates add up. info "
          "and export are about NEW alone. If the keys are available, use everseen migrate instead.",
          {{"Move from a filter of another program to one of our own",
            "everseen create uids2 --capacity 10M; everseen link uids uids2 --for 30d", scene},
           {"Stop asking the old one", "everseen link --off uids2", linked}},
          [](option_set& known) -> action {
            auto o = std::make_shared<link_arguments>();
            add_name(known, o->first, {"OLD", "the old filter; with --off the new one"});
            add_name(known, o->second, {"NEW", "the new filter, which is used from now on"});
            add_duration(known, "--for", o->life,
                         {"TIME", "how long the old filter is asked, as in 30d", "until --off"});
            add_switch(known, "--off", o->off, "remove the link of the filter given");
            add_switch(known, "-q,--quiet", o->quiet, "do not print what was done");
            add_store_options(known, o->store, access::write);
            return [o](printer& out) { return run_link(*o, out); };
          }};
}

}  // namespace everseen::cli
