#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "everseen/core/base/names.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/serve/api/filter_json.hpp"
#include "everseen/serve/http/http_message.hpp"
#include "everseen/serve/http/http_query.hpp"
#include "everseen/serve/http/http_routes.hpp"
#include "everseen/serve/http/json_body.hpp"
#include "everseen/serve/registry/filter_registry.hpp"
#include "everseen/text/json.hpp"

/// Operations of the HTTP interface on whole filters.
namespace everseen::serve {

namespace {

/// A filter that a client wants to create: schema `new_filter` of openapi.json.
struct new_filter {
  std::string key{};  ///< its name
  filter_registry::request request{};
};

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

void take_size(json_body& body, spec_request& r) {
  if (const auto capacity = body.count("capacity", {1, static_cast<std::int64_t>(max_capacity)}))
    r.capacity = static_cast<std::uint64_t>(*capacity);
  if (const auto rate = body.rate("error_rate", {sizing::min_error_rate, sizing::max_error_rate}))
    r.error_rate = *rate;
  if (const auto growth = choice<growth_kind>(body, "growth", parse_growth_kind, "grow, refuse, overfill"))
    r.growth = *growth;
}

/// @return whether any of these was given
bool take_layout(json_body& body, filter_registry::request& wanted) {
  spec_request& r = wanted.spec;
  r.layout = choice<layout_kind>(body, "layout", parse_own_layout,
                                 "classic, line-8x64, line-16x32, two-line-8x64, two-line-16x32");
  const auto probes = body.integer("probes", {1, max_probes});
  if (probes) r.probes = static_cast<unsigned>(*probes);
  wanted.hash = choice<hash_kind>(body, "hash", parse_asked_hash, asked_hash_names(", "));
  const auto partitions = body.integer("partitions", {1, max_partitions});
  if (partitions) r.partitions = static_cast<std::uint32_t>(*partitions);
  return r.layout || probes || wanted.hash || partitions;
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
  const auto as = choice<layout_kind>(body, "as", parse_foreign_layout, "guava32, guava64, redisbloom");
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

/// @throws http_problem, parameter_error  says what is invalid
new_filter parse_new_filter(std::string_view text) {
  json_body body(text);
  new_filter made;
  made.key = typed_name(body.text("name").value_or(""));
  if (made.key.empty()) refuse_parameter("name is missing: the name of the new filter");
  spec_request& r = made.request.spec;
  take_size(body, r);
  const bool chose_layout = take_layout(body, made.request);
  const bool chose_window = take_window(body, r);
  take_foreign(body, r, chose_layout || chose_window);
  made.request.life = body.duration("expire");
  made.request.requested.expansion = r.expansion;
  body.must_be_all_taken();
  return made;
}

/// Describes a filter for a list of many.
/// @throws backend_error  a server is unavailable, and would be for the next filter
void list_one(service& all, const std::string& key, json& filters, json& damaged, json& unreachable) {
  const auto told = [&](const error& why) {
    return json{{"name", shown_name(key)}, {"url", url_of(key)}, {"detail", why.what()}};
  };
  try {
    const auto f = all.filters().peek(key);
    if (f) filters.push_back(summary_json(*f, f->handle.info()));
  } catch (const no_filter&) {
    // It was dropped after it was listed.
  } catch (const format_error& why) {
    damaged.push_back(told(why));
  } catch (const storage_error& why) {
    unreachable.push_back(told(why));
  }
}

http_response list(http_call& c) {
  query_parameters query(c.from.query());
  const auto limit = static_cast<std::size_t>(query.integer("limit", 1, 1000).value_or(100));
  const std::string after = typed_name(query.text("after").value_or(""));
  query.must_be_all_taken();
  const std::vector<std::string> keys = c.all.filters().keys();
  const auto from = static_cast<std::size_t>(std::ranges::upper_bound(keys, after) - keys.begin());
  const std::size_t end = from + std::min(limit, keys.size() - from);
  auto filters = json::array();
  auto damaged = json::array();
  auto unreachable = json::array();
  for (std::size_t i = from; i < end; ++i) list_one(c.all, keys[i], filters, damaged, unreachable);
  return json_response({{"filters", std::move(filters)},
                        {"damaged", std::move(damaged)},
                        {"unreachable", std::move(unreachable)},
                        {"total", keys.size()},
                        {"next", end < keys.size() ? json(shown_name(keys[end - 1])) : json()}});
}

http_response create(http_call& c) {
  const new_filter wanted = parse_new_filter(c.from.body);
  const auto make = [&] {
    try {
      return c.all.filters().create(wanted.key, wanted.request);
    } catch (const name_taken&) {
      throw http_problem{
          409, "name_taken",
          fmt::format("there is a filter of this name already: GET {0} describes it, and DELETE {0} "
                      "drops it with all its keys; or choose another name",
                      url_of(wanted.key))};
    }
  };
  const auto made = make();
  http_response r = json_response(info_json(*made));
  r.status = 201;
  r.headers.emplace_back("Location", url_of(wanted.key));
  return r;
}

http_response describe(http_call& c) {
  const auto found = c.all.filters().peek(c.name);
  if (!found) throw unknown_filter(c.all, c.name);
  return json_response(info_json(*found));
}

http_response drop(http_call& c) {
  if (!c.all.drop(c.name)) throw unknown_filter(c.all, c.name);
  http_response r;
  r.status = 204;
  return r;
}

http_response rename(http_call& c) {
  json_body body(c.from.body);
  const auto target = body.text("to");
  const bool replace = body.truth("replace").value_or(false);
  body.must_be_all_taken();
  if (!target) throw http_problem{400, "bad_parameter", "to is missing: the new name"};
  const std::string name = typed_name(*target);
  try {
    c.all.filters().rename(c.name, name, replace ? store::namesake::replace : store::namesake::refuse);
  } catch (const name_taken&) {
    throw http_problem{409, "name_taken",
                       fmt::format("there is a filter named {} already; choose another name, or send "
                                   "\"replace\": true to have it removed",
                                   quoted_name(name))};
  } catch (const no_filter&) {
    throw unknown_filter(c.all, c.name);
  }
  const auto found = c.all.filters().peek(name);
  if (!found) throw unknown_filter(c.all, name);
  http_response r = json_response(info_json(*found));
  r.headers.emplace_back("Location", url_of(name));
  return r;
}

/// The requested expiry time; nothing: never.
std::optional<event_time> parse_expiry(std::string_view text) {
  json_body body(text);
  const bool is_endless = body.is_null("expire"), has_no_end = body.is_null("expires_at_ms");
  const auto life = is_endless ? std::nullopt : body.duration("expire");
  const auto end = has_no_end ? std::nullopt : body.integer("expires_at_ms", {0, INT64_MAX / 4});
  body.must_be_all_taken();
  if (int{is_endless} + int{has_no_end} + int{life.has_value()} + int{end.has_value()} != 1)
    throw http_problem{400, "bad_parameter",
                       "give either expire, as in \"1d\", or expires_at_ms; null: never"};
  if (life) return service::now() + *life;
  if (!end) return std::nullopt;
  const event_time when{std::chrono::milliseconds(*end)};
  if (when <= service::now())
    throw http_problem{400, "bad_parameter", "expires_at_ms lies in the past; DELETE drops the filter now"};
  return when;
}

http_response expire(http_call& c) {
  const auto when = parse_expiry(c.from.body);
  const auto f = need_filter(c);
  c.all.filters().expire_at(*f, when);
  return json_response(info_json(*f));
}

}  // namespace

std::span<const http_route> filter_routes() {
  static constexpr http_route routes[] = {
      {http_method::get, "/api/v1/filters", right::read, runs::on_worker, list, "http|list"},
      {http_method::post, "/api/v1/filters", right::write, runs::on_worker, create, "http|create"},
      {http_method::get, "/api/v1/filters/{name}", right::read, runs::on_worker, describe, "http|info"},
      {http_method::del, "/api/v1/filters/{name}", right::write, runs::on_worker, drop, "http|drop"},
      {http_method::post, "/api/v1/filters/{name}/rename", right::write, runs::on_worker, rename,
       "http|rename"},
      {http_method::post, "/api/v1/filters/{name}/expire", right::write, runs::on_worker, expire,
       "http|expire"},
  };
  return routes;
}

}  // namespace everseen::serve
