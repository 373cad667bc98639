#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include "everseen/core/base/names.hpp"
#include "everseen/serve/api/filter_json.hpp"
#include "everseen/serve/api/page.hpp"
#include "everseen/serve/http/http_query.hpp"
#include "everseen/serve/http/http_routes.hpp"
#include "everseen/serve/service/service.hpp"
#include "everseen/text/json.hpp"

/// The state of the server in the HTTP interface: statistics, metrics, health.
namespace everseen::serve {

namespace {

// Names and labels are an interface, which dashboards and alerts rely on: doc/operations.md lists them. A
// family has one line for each filter, so a number that is unknown is left out: 0 would be taken for a
// measurement.

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using labels = std::vector<ClientMetric::Label>;

ClientMetric number(MetricType type, double value, labels label) {
  ClientMetric m;
  m.label = std::move(label);
  (type == MetricType::Counter ? m.counter.value : m.gauge.value) = value;
  return m;
}

/// A metric family that is built number by number.
class family {
 public:
  family(std::string name, std::string help, MetricType type)
      : made_{std::move(name), std::move(help), type, {}} {}
  family& with(double value, labels label = {}) {
    made_.metric.push_back(number(made_.type, value, std::move(label)));
    return *this;
  }
  /// Buckets of Prometheus are sums: each counts whatever took no longer than its end.
  family& with(const duration_histogram& took, labels label = {}) {
    ClientMetric m;
    m.label = std::move(label);
    const std::vector<std::uint64_t> classes = took.classes();
    for (std::size_t i = 0; i < duration_histogram::ends_ns.size(); ++i) {
      m.histogram.sample_count += classes[i];
      m.histogram.bucket.push_back(
          {m.histogram.sample_count, static_cast<double>(duration_histogram::ends_ns[i]) * 1e-9});
    }
    m.histogram.sample_count += classes.back();
    m.histogram.sample_sum = took.seconds();
    made_.metric.push_back(std::move(m));
    return *this;
  }
  operator MetricFamily() { return std::move(made_); }

 private:
  MetricFamily made_;
};

family counter(std::string name, std::string help) {
  return {std::move(name), std::move(help), MetricType::Counter};
}
family gauge(std::string name, std::string help) {
  return {std::move(name), std::move(help), MetricType::Gauge};
}
family histogram(std::string name, std::string help) {
  return {std::move(name), std::move(help), MetricType::Histogram};
}

double real(std::uint64_t n) {
  return static_cast<double>(n);
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void tell_server(service& all, std::vector<MetricFamily>& families) {
  const auto& count = all.count;
  families.push_back(
      gauge("everseen_build_info", "Version of the program.").with(1, {{"version", EVERSEEN_VERSION}}));
  families.push_back(gauge("process_start_time_seconds", "When the server started, in s since 1970.")
                         .with(static_cast<double>(all.started().time_since_epoch().count()) / 1000));
  families.push_back(gauge("process_resident_memory_bytes", "Memory of the process.").with(resident_bytes()));
  families.push_back(gauge("everseen_connections", "Clients that are connected, of both protocols.")
                         .with(real(all.clients().size())));
  families.push_back(counter("everseen_connections_accepted_total", "Connections that were accepted.")
                         .with(real(count.connections)));
  families.push_back(
      counter("everseen_connections_refused_total", "Connections that were refused because of the limit.")
          .with(real(count.refused_connections)));
  families.push_back(
      counter("everseen_commands_total", "Commands of the Redis protocol.").with(real(count.commands)));
  families.push_back(
      gauge("everseen_requests_bytes", "Bytes of requests that are incomplete, or queued by MULTI.")
          .with(real(all.requests().taken())));
  families.push_back(
      counter("everseen_store_outages_total", "Batches of keys that the store did not answer completely.")
          .with(real(all.stats().outages())));
  families.push_back(gauge("everseen_filters_bytes", "Memory or disk space that open filters use.")
                         .with(real(all.filters().bytes())));
  families.push_back(gauge("everseen_filters_limit_bytes", "Memory or disk space that filters may use.")
                         .with(real(all.filters().max_bytes())));
}

void tell_http(service& all, std::vector<MetricFamily>& families) {
  family requests = counter("everseen_http_requests_total", "Requests over HTTP that were answered.");
  for (const auto& [kind, count] : all.http_requests().all())
    requests.with(real(count), {{"route", std::string(kind.route)},
                                {"method", std::string(kind.method)},
                                {"status", std::to_string(kind.status)}});
  families.push_back(std::move(requests));
}

void tell_durations(service& all, std::vector<MetricFamily>& families) {
  families.push_back(
      histogram("everseen_batch_duration_seconds", "Time from a batch of keys to its verdicts.")
          .with(all.stats().took(question::add), {{"question", "add"}})
          .with(all.stats().took(question::check), {{"question", "check"}}));
  families.push_back(
      histogram("everseen_http_request_duration_seconds", "Time from a request over HTTP to its answer.")
          .with(all.http_took()));
}

void tell_verdicts(const std::string& name, const filter_record& f, question asks, family& verdicts,
                   family& batches) {
  const std::string word = asks == question::add ? "add" : "check";
  const tally t = f.count.verdicts(asks);
  const std::pair<const char*, std::uint64_t> each[] = {
      {"fresh", t.fresh}, {"seen", t.seen}, {"late", t.late}, {"unknown", t.unknown}};
  for (const auto& [verdict, count] : each)
    verdicts.with(real(count), {{"filter", name}, {"question", word}, {"verdict", verdict}});
  batches.with(real(f.count.batches(asks)), {{"filter", name}, {"question", word}});
}

void tell_filters(service& all, std::vector<MetricFamily>& families) {
  family verdicts = counter("everseen_filter_verdicts_total", "Keys that were judged.");
  family batches = counter("everseen_filter_batches_total", "Batches of keys that were judged.");
  family outages =
      counter("everseen_filter_outages_total", "Batches that the store did not answer completely.");
  family keys = gauge("everseen_filter_keys", "Keys that were added and have not expired.");
  family capacity = gauge("everseen_filter_capacity_keys", "Keys that the filter was created for.");
  family fill = gauge("everseen_filter_fill_ratio", "Keys in proportion to the room of all layers.");
  family promised = gauge("everseen_filter_error_rate", "Promised chance that a new key is called seen.");
  family current =
      gauge("everseen_filter_error_rate_now", "The same chance at this moment, by the formulas.");
  family layers = gauge("everseen_filter_layers", "Layers of the slice with the most layers.");
  family bytes = gauge("everseen_filter_bytes", "Bytes of all segments.");
  all.health().refresh_figures();
  for (const auto& [key, f] : all.filters().records()) {
    const std::string name = shown_name(key);
    const labels named = {{"filter", name}};
    tell_verdicts(name, *f, question::add, verdicts, batches);
    tell_verdicts(name, *f, question::check, verdicts, batches);
    outages.with(real(f->count.outages()), named);
    capacity.with(real(f->spec.capacity), named);
    promised.with(f->spec.error_rate, named);
    const auto figures = f->figures.last();
    if (!figures) continue;  // unknown, which differs from 0
    keys.with(real(figures->keys), named);
    fill.with(figures->fill, named);
    current.with(figures->error_rate_now, named);
    layers.with(figures->layers, named);
    bytes.with(real(figures->bytes), named);
  }
  for (family* each :
       {&verdicts, &batches, &outages, &keys, &capacity, &fill, &promised, &current, &layers, &bytes})
    families.push_back(std::move(*each));
}

/// The server's counters and the state of its open filters, in the text format of Prometheus.
///
/// Everything is collected on request; between two scrapes only counters are kept.
/// Cost: as filter::info() of every open filter, once a second at most.
std::string metrics_text(service& all) {
  std::vector<MetricFamily> families;
  tell_server(all, families);
  tell_http(all, families);
  tell_durations(all, families);
  tell_filters(all, families);
  return prometheus::TextSerializer().Serialize(families);
}

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
      {http_method::get, "/api/v1/stats", right::read, runs::aside, stats, "http|stats"},
      {http_method::get, "/metrics", right::read, runs::aside, metrics, "http|metrics"},
      {http_method::get, "/healthz", right::nothing, runs::at_once, health, "http|healthz"},
      {http_method::get, "/readyz", right::nothing, runs::aside, readiness, "http|readyz"},
      {http_method::get, "/openapi.json", right::nothing, runs::at_once, document, "http|document"},
  };
  return routes;
}

}  // namespace everseen::serve
