#include <algorithm>
#include <string>

#include "everseen/serve/api/filter_json.hpp"
#include "everseen/serve/api/http_document.hpp"
#include "everseen/serve/api/http_plan.hpp"
#include "everseen/serve/api/metrics.hpp"
#include "everseen/serve/http/http_query.hpp"
#include "everseen/serve/http/http_routes.hpp"
#include "everseen/text/json.hpp"

/// The state of the server in the HTTP interface.
namespace everseen::serve {

namespace {

/// A filter's counters in this process, and how full it is.
json counters_json(const std::string& key, const filter_record& f) {
  const filter_figures figures = f.figures.last().value_or(filter_figures{});
  const tally add = f.count.verdicts(question::add);
  const tally check = f.count.verdicts(question::check);
  json all = figures_json(key, f.spec, figures);
  all["adds"] = add.keys();
  all["checks"] = check.keys();
  all["batches"] = f.count.batches(question::add) + f.count.batches(question::check);
  all["verdicts"] = {{"add", json_of(add)}, {"check", json_of(check)}};
  all["outages"] = f.count.outages();
  all["instances"] = instances_json(figures);
  return all;
}

std::string_view kind_of(const filter_registry& filters) {
  return filters.traits().is_memory ? "memory" : filters.traits().is_remote ? "servers" : "files";
}

json addresses_json(const service& all) {
  auto addresses = json::array();
  for (const listen_address& each : all.addresses()) addresses.push_back(each.text());
  return addresses;
}

json limit_json(const filter_registry& filters) {
  const std::uint64_t most = filters.max_bytes();
  return most == 0 || most > static_cast<std::uint64_t>(INT64_MAX) ? json() : json(most);
}

http_response stats(http_call& c) {
  query_parameters(c.from.query()).must_be_all_taken();
  service& all = c.all;
  auto filters = json::array();
  all.health().refresh_figures();
  for (const auto& [key, f] : all.filters().records())
    if (f->figures.last()) filters.push_back(counters_json(key, *f));
  const event_time current_time = service::now();
  return json_response(
      {{"version", EVERSEEN_VERSION},
       {"now_ms", current_time.time_since_epoch().count()},
       {"uptime_seconds",
        static_cast<double>(std::max<std::int64_t>(0, (current_time - all.started()).count())) / 1000},
       {"store", kind_of(all.filters())},
       {"redis_addresses", addresses_json(all)},
       {"connections",
        {{"open", all.clients().size()},
         {"accepted", all.count.connections.load()},
         {"refused", all.count.refused_connections.load()}}},
       {"commands", all.count.commands.load()},
       {"requests", all.http_requests().sum()},
       {"keys_added", all.stats().judged_keys(question::add)},
       {"keys_checked", all.stats().judged_keys(question::check)},
       {"outages", all.stats().outages()},
       {"bytes", all.filters().bytes()},
       {"max_bytes", limit_json(all.filters())},
       {"filters", std::move(filters)}});
}

http_response metrics(http_call& c) {
  http_response r;
  r.content_type = "text/plain; version=0.0.4; charset=utf-8";
  const auto& given = c.all.settings().metrics;
  r.body = given ? given() : metrics_text(c.all);
  return r;
}

http_response health(http_call&) {
  return json_response({{"status", "serving"}});
}

http_response readiness(http_call& c) {
  if (c.all.is_stopping()) throw http_problem{503, "stopping", "the server is being stopped"};
  c.all.health().must_answer();
  return json_response({{"status", "ready"}});
}

http_response document(http_call&) {
  http_response r;
  r.body = openapi_document();
  r.headers.emplace_back("Cache-Control", "max-age=60");
  return r;
}

}  // namespace

std::span<const http_route> server_routes() {
  static constexpr http_route routes[] = {
      {http_method::get, "/api/v1/plan", right::read, runs::aside, answer_plan, "http|plan"},
      {http_method::get, "/api/v1/stats", right::read, runs::aside, stats, "http|stats"},
      {http_method::get, "/metrics", right::read, runs::aside, metrics, "http|metrics"},
      {http_method::get, "/healthz", right::nothing, runs::at_once, health, "http|healthz"},
      {http_method::get, "/readyz", right::nothing, runs::aside, readiness, "http|readyz"},
      {http_method::get, "/openapi.json", right::nothing, runs::at_once, document, "http|document"},
  };
  return routes;
}

}  // namespace everseen::serve
