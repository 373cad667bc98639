#include <memory>

#include <fmt/format.h>

#include "everseen/cli/filters/create_options.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

struct create_arguments {
  std::string name;
  store_choice store;
  create_options options;
  std::optional<std::string> like;
  std::optional<std::chrono::milliseconds> expire;
  bool quiet = false;
};

spec planned(const create_arguments& o, store& place) {
  if (!o.like) return place.plan(request_of(o.options));
  if (o.options != create_options{})
    throw parameter_error("--like takes all properties from " + quoted_name(*o.like) +
                          "; leave out those that you gave beside it");
  return open(place, *o.like, access::read).sibling_spec();
}

exit_code run_create(const create_arguments& o, printer& out) {
  const auto store = chosen_store(o.store);
  const spec s = planned(o, *store);
  must_have_room(*store, s);
  store->create(o.name, s, o.expire);
  warn_of(*store);
  if (o.quiet) return exit_code::done;
  const std::uint64_t slice_bytes = growth::plan_layer(s, 0).shape.bytes * s.partitions;
  out.print("created {}: {} keys at an error rate of {}, {}, {}", shown_name(o.name),
            format_count(s.capacity), format_rate(s.error_rate), to_string(s.layout),
            format_bytes(static_cast<double>(slice_bytes)));
  if (s.window) out.print(" a slice of {}", format_duration(s.window->slice_width()));
  if (o.expire) out.print(", ends after {}", format_duration(*o.expire));
  out.write("\n");
  return exit_code::done;
}

action declare_create(option_set& known) {
  auto o = std::make_shared<create_arguments>();
  add_name(known, o->name,
           {"NAME", "the new filter: any text, or in double quotes as everseen list shows it"});
  add_create_options(known, o->options);
  add_name(known, "--like", o->like,
           {"NAME", "all properties and the secret seed of this filter, so that the two can be merged"});
  add_duration(known, "--expire", o->expire,
               {"TIME", "delete the whole filter after this time, used or not", "never"},
               std::chrono::seconds(1));
  add_switch(known, "-q,--quiet", o->quiet, "do not print what was created");
  add_store_options(known, o->store);
  return [o](printer& out) { return run_create(*o, out); };
}

}  // namespace

verb create_verb() {
  return {
      "create",
      "Make a new, empty filter",
      "The properties of a filter never change. everseen plan shows what a filter costs.\n\nWith --expire "
      "the whole filter is deleted at one moment, by the clock of this machine, or of the Redis servers that "
      "have it. Using the filter does not extend its life. To forget keys by their age instead, use "
      "--window.\n\nWith --as the filter has the size, the hash and the bits of another system's, and can be "
      "exported to it; such a hash has no secret, so someone who chooses the keys can make some that "
      "collide.",
      {{"A filter for about ten million keys", "everseen create clicks --capacity 10M"},
       {"One wrong 'seen' in a billion new keys", "everseen create payments --capacity 1M --error-rate 1e-9"},
       {"Only the last ten minutes count", "everseen create recent --capacity 7M --window 10m"},
       {"Keys from untrusted sources, and a hard limit",
        "everseen create signups --capacity 100k --hash siphash --growth refuse"},
       {"The filter that Guava would make",
        "everseen create users --as guava64 --capacity 1M --error-rate 0.03 --funnel long"},
       {"One to be merged with another", "everseen create tuesday --like monday", "everseen create monday"},
       {"In a directory of your own", "everseen create urls --store file:./filters"}},
      declare_create};
}

}  // namespace everseen::cli
