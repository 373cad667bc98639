#include "everseen/cli/filters/create.hpp"

#include <memory>

#include <fmt/format.h>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/layout/sizing.hpp"
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

namespace {

/// The request for a filter of another system.
void ask_as(const create_options& o, spec_request& r) {
  if (o.layout || o.probes || o.hash || o.slices || o.partitions || o.window)
    throw parameter_error(
        "--as fixes what --layout, --probes, --hash, --window, --slices and --partitions choose; leave these "
        "out");
  const bool redisbloom = o.as == layout_kind::redisbloom;
  if (redisbloom ? o.funnel.has_value() : o.expansion.has_value() || o.growth.has_value())
    throw parameter_error(redisbloom ? "--funnel applies only to guava32 and guava64"
                                     : "a filter of Guava does not grow; leave out --growth and --expansion");
  r.layout = o.as;
  r.funnel = o.funnel.value_or(r.funnel);
  if (o.expansion) r.expansion = static_cast<std::uint32_t>(*o.expansion);
}

}  // namespace

spec_request request_of(const create_options& o, const spec_request& standard) {
  spec_request r = standard;
  if (o.capacity) r.capacity = o.capacity;
  if (o.error_rate) r.error_rate = o.error_rate;
  r.layout = o.layout;
  if (o.hash) r.hash = o.hash;
  if (o.growth) r.growth = o.growth;
  if (o.judge) r.judge = o.judge;
  if (o.probes) r.probes = static_cast<unsigned>(*o.probes);
  if (o.partitions) r.partitions = static_cast<std::uint32_t>(*o.partitions);
  if (o.slices && !o.window) throw parameter_error("--slices divide a window; give --window as well");
  if (o.window)
    r.window = window_spec{*o.window, static_cast<std::uint32_t>(o.slices.value_or(default_slices))};
  if (o.as) ask_as(o, r);
  if (!o.as && (o.funnel || o.expansion))
    throw parameter_error("--funnel and --expansion belong to other systems' filters; give --as as well");
  return r;
}

void add_create_options(option_set& known, create_options& target, const create_defaults& defaults) {
  add_count(
      known, "--capacity", target.capacity, {1, max_capacity},
      {"COUNT", "how many different keys you expect (with a window: within its width)", defaults.capacity});
  add_rate(known, "--error-rate", target.error_rate, {sizing::min_error_rate, sizing::max_error_rate},
           {"RATE", "share of new keys that may be called seen", defaults.error_rate});
  add_choice(known, "--growth", target.growth,
             {"grow|refuse|overfill",
              "when the capacity is reached: grow and keep the error rate, refuse keys, or accept them with "
              "more errors",
              defaults.growth},
             parse_growth_kind);
  add_duration(known, "--window", target.window,
               {"TIME", "forget keys after this time, as in 10m, 1h30m or 4w", defaults.window});
  add_count(known, "--slices", target.slices, {1, max_slices},
            {"COUNT", "parts of the window; a key is forgotten up to one part later", "10"});
  add_choice(known, "--layout", target.layout,
             {"classic|line-8x64|line-16x32|two-line-8x64|two-line-16x32", "where the bits of a key are",
              "what everseen plan picks"},
             parse_own_layout);
  add_count(known, "--probes", target.probes, {1, max_probes},
            {"COUNT", "bits a key, for the classic layout"});
  add_hash(known, target.hash, defaults.hash);
  add_count(known, "--partitions", target.partitions, {1, max_partitions},
            {"COUNT", "parts that threads can work on in parallel", "by size"});
  add_judge(known, target.judge);
  add_choice(known, "--as", target.as,
             {"guava32|guava64|redisbloom", "a filter in the format of this system, to be exported there"},
             parse_foreign_layout);
  add_choice(known, "--funnel", target.funnel,
             {"string|chars|int|long|bytes", "Guava: what the keys are", defaults.funnel}, parse_funnel_kind);
  add_count(known, "--expansion", target.expansion, {1, 32'768},
            {"COUNT", "RedisBloom: capacity of each layer relative to the previous one", defaults.expansion});
}

}  // namespace everseen::cli
