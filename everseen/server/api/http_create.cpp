#include "everseen/server/api/http_create.hpp"

#include <fmt/format.h>

#include "everseen/core/base/names.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/server/http/http_problem.hpp"
#include "everseen/server/http/json_body.hpp"

namespace everseen::server {

namespace {

/// One of a fixed set of words.
template <typename Kind, typename Parse>
std::optional<Kind> choice(json_body& body, std::string_view name, Parse parse, std::string_view choices) {
  const auto word = body.text(name);
  if (!word) return std::nullopt;
  const std::optional<Kind> kind = parse(*word);
  if (!kind)
    refuse_parameter(fmt::format("{} is '{}'; it must be one of {}", name, word->substr(0, 64), choices));
  return kind;
}

std::optional<layout_kind> own_layout(std::string_view word) {
  const auto kind = parse_layout_kind(word);
  return kind && !is_foreign(*kind) ? kind : std::nullopt;
}

std::optional<layout_kind> foreign_layout(std::string_view word) {
  const auto kind = parse_layout_kind(word);
  return kind && is_foreign(*kind) ? kind : std::nullopt;
}

void take_size(json_body& body, spec_request& r) {
  if (const auto capacity = body.count("capacity", {1, static_cast<std::int64_t>(max_capacity)}))
    r.capacity = static_cast<std::uint64_t>(*capacity);
  if (const auto rate = body.rate("error_rate", {sizing::min_error_rate, sizing::max_error_rate}))
    r.error_rate = *rate;
  if (const auto growth = choice<growth_kind>(body, "growth", parse_growth_kind, "grow, refuse, overfill"))
    r.growth = *growth;
}

/// @return whether any of these was given
bool take_layout(json_body& body, filter_registry::request& how) {
  spec_request& r = how.spec;
  r.layout = choice<layout_kind>(body, "layout", own_layout,
                                 "classic, line-8x64, line-16x32, two-line-8x64, two-line-16x32");
  const auto probes = body.integer("probes", {1, max_probes});
  if (probes) r.probes = static_cast<unsigned>(*probes);
  how.hash = choice<hash_kind>(body, "hash", parse_own_hash, "xxh3, siphash");
  const auto partitions = body.integer("partitions", {1, max_partitions});
  if (partitions) r.partitions = static_cast<std::uint32_t>(*partitions);
  return r.layout || probes || how.hash || partitions;
}

bool take_window(json_body& body, spec_request& r) {
  const auto window = body.duration("window");
  const auto slices = body.integer("slices", {1, max_slices});
  if (slices && !window) refuse_parameter("slices divide a window; give window as well");
  if (window) r.window = window_spec{*window, static_cast<std::uint32_t>(slices.value_or(default_slices))};
  return window.has_value();
}

/// A filter in another system's format.
void take_foreign(json_body& body, spec_request& r, bool chose_ours) {
  const auto as = choice<layout_kind>(body, "as", foreign_layout, "guava32, guava64, redisbloom");
  const auto funnel =
      choice<funnel_kind>(body, "funnel", parse_funnel_kind, "string, chars, int, long, bytes");
  const auto expansion = body.integer("expansion", {1, 32'768});
  if (!as && (funnel || expansion))
    refuse_parameter("funnel and expansion belong to other systems' filters; give as as well");
  if (!as) return;
  if (chose_ours)
    refuse_parameter("as fixes layout, probes, hash, partitions and has no window; leave these out");
  const bool redisbloom = *as == layout_kind::redisbloom;
  if (redisbloom ? funnel.has_value() : expansion.has_value())
    refuse_parameter(redisbloom ? "funnel applies only to guava32 and guava64"
                                : "a filter of Guava does not grow");
  r.layout = as;
  if (funnel) r.funnel = *funnel;
  if (expansion) r.expansion = static_cast<std::uint32_t>(*expansion);
}

}  // namespace

new_filter parse_new_filter(std::string_view text) {
  json_body body(text);
  new_filter made;
  made.key = typed_name(body.text("name").value_or(""));
  if (made.key.empty()) refuse_parameter("name is missing: the name of the new filter");
  spec_request& r = made.how.spec;
  take_size(body, r);
  const bool chose_layout = take_layout(body, made.how);
  const bool chose_window = take_window(body, r);
  take_foreign(body, r, chose_layout || chose_window);
  made.how.life = body.duration("expire");
  made.how.requested.expansion = r.expansion;
  body.must_be_all_taken();
  return made;
}

}  // namespace everseen::server
