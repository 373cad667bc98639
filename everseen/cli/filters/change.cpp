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
#include "everseen/foreign/attached/attaching.hpp"
#include "everseen/store/port/store.hpp"

/// The verbs that change a filter as a whole: reset, rename, link, drop.
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
    if (const auto attached = foreign::attachment_of(*servers, name)) return attached->key;
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
