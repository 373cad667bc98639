#include <memory>
#include <optional>
#include <string>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

struct options {
  std::string first;
  std::optional<std::string> second;
  std::optional<std::chrono::milliseconds> life;
  store_choice store;
  bool off = false;
  bool quiet = false;
};

exit_code run(const options& o, printer& out) {
  if (o.off && (o.second || o.life)) throw parameter_error("link --off takes one name: the newer filter's");
  if (!o.off && !o.second) throw parameter_error("link needs two names: the old filter and the new one");
  const auto place = chosen_store(o.store);
  if (o.off)
    place->unlink(o.first);
  else
    place->link(o.first, *o.second, o.life);
  if (o.quiet) return exit_code::done;
  if (o.off)
    out.print("{} asks no other filter any more\n", o.first);
  else if (o.life)
    out.print("{} asks {} first, for {}\n", *o.second, o.first, format_duration(*o.life));
  else
    out.print("{} asks {} first\n", *o.second, o.first);
  return exit_code::done;
}

}  // namespace

verb link_verb() {
  constexpr std::string_view scene =
      "everseen attach uids --as gozero --bits 20971520 --key bloom:uids --create";
  constexpr std::string_view linked = "everseen create uids; everseen create uids2; everseen link uids uids2";
  return {
      "link",
      "Let a new filter ask an old one first",
      "For moving on without the keys: what is looked up in NEW is looked up in OLD first, and a key that "
      "either "
      "has is seen. What is added goes to NEW alone, also keys that OLD has. After some time NEW knows all "
      "keys "
      "that still come; then --off, or the end of --for, lets OLD rest, and it may be dropped.\n\n"
      "OLD may be attached, so that its own program goes on adding to it, be imported from a file of another "
      "system, or have another seed, window or layout. Both are in one store, of any kind. While it is "
      "asked, "
      "OLD cannot be dropped; where it cannot be read, nothing is answered through NEW. Who has NEW open "
      "goes on "
      "as he began until he opens it again, but for the end of --for.\n\n"
      "Both filters may err: while they are linked, their error rates add up. info and export are about NEW "
      "alone. Where the keys are at hand, everseen migrate is the better way.",
      {{"Move from a filter of another program to one of our own",
        "everseen create uids2 --capacity 10M; everseen link uids uids2 --for 30d", scene},
       {"Ask the old one no more", "everseen link --off uids2", linked}},
      [](option_set& known) -> action {
        auto o = std::make_shared<options>();
        add_argument(known, o->first, {"OLD", "the old filter; with --off the new one"});
        add_argument(known, o->second, {"NEW", "the new filter, which is used from now on"});
        add_duration(known, "--for", o->life,
                     {"DURATION", "ask the old one for so long, as in 30d", "until --off"});
        add_switch(known, "--off", o->off, "end it: NEW asks no other filter any more");
        add_switch(known, "-q,--quiet", o->quiet, "do not print what was done");
        add_store_option(known, o->store);
        return [o](printer& out) { return run(*o, out); };
      }};
}

}  // namespace everseen::cli
