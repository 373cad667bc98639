#include "everseen/cli/filters/create_options.hpp"

#include "everseen/cli/verb/options.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/sizing.hpp"

namespace everseen::cli {

namespace {

std::optional<layout_kind> parse_own_layout(std::string_view name) {
  const auto kind = parse_layout_kind(name);
  return kind && !is_foreign(*kind) ? kind : std::nullopt;
}

std::optional<layout_kind> parse_foreign_layout(std::string_view name) {
  const auto kind = parse_layout_kind(name);
  return kind && is_foreign(*kind) ? kind : std::nullopt;
}

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
  add_choice(
      known, "--hash", target.hash,
      {"xxh3|siphash", "siphash for keys from untrusted sources, which may attack the hash", defaults.hash},
      parse_own_hash);
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
