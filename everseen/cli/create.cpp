#include <memory>

#include <fmt/format.h>

#include "everseen/cli/numbers.hpp"
#include "everseen/cli/options.hpp"
#include "everseen/cli/printer.hpp"
#include "everseen/cli/stores.hpp"
#include "everseen/cli/verbs.hpp"
#include "everseen/core/error.hpp"
#include "everseen/core/growth.hpp"
#include "everseen/core/sizing.hpp"

namespace everseen::cli {

namespace {

struct options {
  std::string name;
  store_choice store;
  std::optional<std::uint64_t> capacity, probes, slices, partitions;
  std::optional<double> error_rate;
  std::optional<layout_kind> layout;
  std::optional<hash_kind> hash;
  std::optional<growth_kind> growth;
  std::optional<layout_kind> as;
  std::optional<funnel_kind> funnel;
  std::optional<std::uint64_t> expansion;
  std::optional<std::chrono::milliseconds> window, expire;
  bool quiet = false;
};

std::optional<layout_kind> parse_own_layout(std::string_view name) {
  const auto kind = parse_layout_kind(name);
  return kind && !is_foreign(*kind) ? kind : std::nullopt;
}

std::optional<layout_kind> parse_foreign_layout(std::string_view name) {
  const auto kind = parse_layout_kind(name);
  return kind && is_foreign(*kind) ? kind : std::nullopt;
}

/// What a filter of another system is asked for.
void ask_as(const options& o, spec_request& r) {
  if (o.layout || o.probes || o.hash || o.slices || o.partitions || o.window)
    throw parameter_error(
        "--as fixes what --layout, --probes, --hash, --window, --slices and --partitions choose; leave these "
        "out");
  const bool redisbloom = o.as == layout_kind::redisbloom;
  if (redisbloom ? o.funnel.has_value() : o.expansion.has_value() || o.growth.has_value())
    throw parameter_error(redisbloom ? "--funnel means something to guava32 and guava64 alone"
                                     : "a filter of Guava does not grow; leave out --growth and --expansion");
  r.layout = o.as;
  r.funnel = o.funnel.value_or(r.funnel);
  if (o.expansion) r.expansion = static_cast<std::uint32_t>(*o.expansion);
}

spec_request request_of(const options& o) {
  spec_request r;
  r.capacity = o.capacity.value_or(r.capacity);
  r.error_rate = o.error_rate.value_or(r.error_rate);
  r.layout = o.layout;
  r.hash = o.hash.value_or(r.hash);
  r.growth = o.growth.value_or(r.growth);
  if (o.probes) r.probes = static_cast<unsigned>(*o.probes);
  if (o.partitions) r.partitions = static_cast<std::uint32_t>(*o.partitions);
  if (o.slices && !o.window) throw parameter_error("--slices divide a window; give --window, too");
  if (o.window) r.window = window_spec{*o.window, static_cast<std::uint32_t>(o.slices.value_or(10))};
  if (o.as) ask_as(o, r);
  if (!o.as && (o.funnel || o.expansion))
    throw parameter_error("--funnel and --expansion are of other systems' filters; give --as, too");
  return r;
}

exit_code run(const options& o, printer& out) {
  const auto store = chosen_store(o.store);
  const spec s = store->plan(request_of(o));
  must_have_room(*store, s);
  o.expire ? store->create_expiring(o.name, s, *o.expire) : store->create(o.name, s);
  warn_of(*store);
  if (o.quiet) return exit_code::done;
  const std::uint64_t slice_bytes = growth::plan_layer(s, 0).shape.bytes * s.partitions;
  out.print("created {}: {} keys at an error rate of {}, {}, {}", o.name, format_count(s.capacity),
            format_rate(s.error_rate), to_string(s.layout), format_bytes(static_cast<double>(slice_bytes)));
  if (s.window) out.print(" a slice of {}", format_duration(s.window->slice_width()));
  if (o.expire) out.print(", ends after {}", format_duration(*o.expire));
  out.write("\n");
  return exit_code::done;
}

action declare(CLI::App& app) {
  auto o = std::make_shared<options>();
  add_argument(app, o->name, {"NAME", "the new filter: letters, digits and . _ -"});
  add_count(app, "--capacity", o->capacity, {1, max_capacity},
            {"COUNT", "how many different keys you expect (with a window: within its width)", "1M"});
  add_rate(app, "--error-rate", o->error_rate, {sizing::min_error_rate, sizing::max_error_rate},
           {"RATE", "share of new keys that may be called seen", "1e-6"});
  add_choice(app, "--growth", o->growth,
             {"grow|refuse|overfill",
              "when the capacity is reached: grow and keep the error rate, refuse keys, "
              "or go on with more errors",
              "grow"},
             parse_growth_kind);
  add_duration(app, "--window", o->window, {"DURATION", "forget keys after this time, as in 10m"});
  add_count(app, "--slices", o->slices, {1, max_slices},
            {"COUNT", "parts of the window; a key is forgotten up to one part later", "10"});
  add_duration(app, "--expire", o->expire,
               {"DURATION", "delete the whole filter after this time, used or not; Redis only", "never"});
  add_choice(app, "--layout", o->layout,
             {"classic|line-8x64|line-16x32|two-line-8x64|two-line-16x32", "where a key's bits go",
              "what everseen plan picks"},
             parse_own_layout);
  add_count(app, "--probes", o->probes, {1, max_probes}, {"COUNT", "bits a key, for the classic layout"});
  add_choice(app, "--hash", o->hash,
             {"xxh3|siphash", "siphash where strangers choose the keys and may want to hurt you", "xxh3"},
             parse_own_hash);
  add_count(app, "--partitions", o->partitions, {1, max_partitions},
            {"COUNT", "parts that threads can work on side by side", "by size"});
  add_choice(app, "--as", o->as,
             {"guava32|guava64|redisbloom", "a filter such as this system would make, to be exported there"},
             parse_foreign_layout);
  add_choice(app, "--funnel", o->funnel,
             {"string|chars|int|long|bytes", "Guava: what the keys are", "string"}, parse_funnel_kind);
  add_count(app, "--expansion", o->expansion, {1, 32'768},
            {"COUNT", "RedisBloom: how many times the keys of a layer the next one is for", "2"});
  add_switch(app, "-q,--quiet", o->quiet, "do not print what was made");
  add_store_option(app, o->store);
  return [o](printer& out) { return run(*o, out); };
}

}  // namespace

verb create_verb() {
  return {
      "create",
      "Make a new, empty filter",
      "What a filter was created with never changes. See everseen plan for what it costs.\n\n"
      "With --expire all keys of the filter on its Redis servers end at one moment, by the clock of the "
      "servers. "
      "Using the filter does not put that off, as a day's filter is to end with the day; a --window forgets "
      "keys by their age instead.\n\n"
      "With --as the filter has the size, the hash and the bits of another system's, and can be exported to "
      "it; such a hash has no secret, so that whoever chooses the keys can make some that collide.",
      {{"A filter for about ten million keys", "everseen create clicks --capacity 10M"},
       {"One wrong 'seen' in a billion new keys", "everseen create payments --capacity 1M --error-rate 1e-9"},
       {"Only the last ten minutes count", "everseen create recent --capacity 7M --window 10m"},
       {"Keys that strangers choose, and a hard limit",
        "everseen create signups --capacity 100k --hash siphash --growth refuse"},
       {"The filter that Guava would make",
        "everseen create users --as guava64 --capacity 1M --error-rate 0.03 --funnel long"},
       {"In a directory of your own", "everseen create urls --store file:./filters"}},
      declare};
}

}  // namespace everseen::cli
