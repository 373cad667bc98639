#include "everseen/cli/stream/stream_metrics.hpp"

#include <chrono>
#include <stop_token>
#include <thread>

#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/open_store.hpp"
#include "everseen/serve/server.hpp"

namespace everseen::cli {

namespace {

using prometheus::Counter;
using prometheus::Gauge;

/// Raises a counter to a running total.
void raise_to(Counter& counter, std::uint64_t total) {
  counter.Increment(static_cast<double>(total) - counter.Value());
}

serve::listen_address address_of(const std::string& text) {
  const serve::listen_address address = serve::parse_listen_address(text);
  if (address.is != serve::listen_address::kind::tcp)
    throw parameter_error(fmt::format("--metrics {} is not ADDRESS:PORT, as in 127.0.0.1:9464", text));
  return address;
}

/// Few threads: one reader at a time is usual.
serve::options page_options(const std::string& address, const prometheus::Registry& shown) {
  serve::options o;
  o.http = {address_of(address)};
  o.metrics = [&shown] { return prometheus::TextSerializer().Serialize(shown.Collect()); };
  o.threads = o.store_threads = 1;
  o.drain_timeout = std::chrono::seconds(1);
  return o;
}

/// Serves the metrics of a registry, and none about itself.
class metrics_page {
 public:
  metrics_page(const std::string& address, const prometheus::Registry& shown)
      : server_(page_options(address, shown), open_store("mem:")) {}

 private:
  serve::filter_server server_;
  std::jthread serving_{[this](const std::stop_token& ended) {
    server_.run_until([&ended] { return ended.stop_requested(); });
  }};
};

}  // namespace

struct stream_metrics::families {
  prometheus::Registry registry;
  prometheus::Labels job;

  Counter& verdicts(const char* verdict) {
    return prometheus::BuildCounter()
        .Name("everseen_stream_events_total")
        .Help("Events judged, by verdict; events that an outage left without one are unknown.")
        .Labels(job)
        .Register(registry)
        .Add({{"verdict", verdict}});
  }
  Counter& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Labels(job).Register(registry).Add({});
  }
  Gauge& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Labels(job).Register(registry).Add({});
  }

  void set_lag(double records) {
    if (lag == nullptr)
      lag =
          &gauge("everseen_stream_lag_records", "Records that wait to be read, as far as the source knows.");
    lag->Set(records);
  }
  void set_watermark(double seconds) {
    if (watermark == nullptr)
      watermark =
          &gauge("everseen_stream_watermark_seconds", "Latest time of an event, in seconds since 1970.");
    watermark->Set(seconds);
  }

  Counter& fresh = verdicts("fresh");
  Counter& seen = verdicts("seen");
  Counter& late = verdicts("late");
  Counter& unknown = verdicts("unknown");
  Counter& bad = counter("everseen_stream_bad_events_total", "Records that are not events.");
  Counter& replayed =
      counter("everseen_stream_replayed_events_total", "Events judged before, by a run that did not end.");
  Counter& bytes = counter("everseen_stream_read_bytes_total", "Bytes of all records.");
  // Unknown values are not published: a zero would be believed.
  Gauge* lag = nullptr;
  Gauge* watermark = nullptr;
  prometheus::Histogram& latency =
      prometheus::BuildHistogram()
          .Name("everseen_stream_settle_seconds")
          .Help("Time from reading a batch to its settlement.")
          .Labels(job)
          .Register(registry)
          .Add({}, prometheus::Histogram::BucketBoundaries{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30});
  metrics_page page;  // ends before what it shows

  families(const std::string& address, const std::string& name)
      : job{{"job_name", shown_name(name)}}, page(address, registry) {}
};

stream_metrics::stream_metrics(const std::string& address, const std::string& job_name)
    : families_(std::make_unique<families>(address, job_name)) {}
stream_metrics::~stream_metrics() = default;

void stream_metrics::show(const job_result& result) {
  raise_to(families_->fresh, result.verdicts.fresh);
  raise_to(families_->seen, result.verdicts.seen);
  raise_to(families_->late, result.verdicts.late);
  raise_to(families_->unknown, result.verdicts.unknown);
  raise_to(families_->bad, result.bad);
  raise_to(families_->replayed, result.replayed);
  raise_to(families_->bytes, result.bytes);
  if (result.lag) families_->set_lag(static_cast<double>(*result.lag));
  if (result.newest)
    families_->set_watermark(static_cast<double>(result.newest->time_since_epoch().count()) / 1000);
}

void stream_metrics::settled(std::chrono::duration<double> after) {
  families_->latency.Observe(after.count());
}

}  // namespace everseen::cli
