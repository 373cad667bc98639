#include "everseen/cli/stream/stream_metrics.hpp"

#include <cerrno>
#include <exception>
#include <vector>

#include <CivetServer.h>
#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"

namespace everseen::cli {

namespace {

using prometheus::Counter;
using prometheus::Gauge;

/// Raises a counter to a running total.
void raise_to(Counter& counter, std::uint64_t total) {
  counter.Increment(static_cast<double>(total) - counter.Value());
}

/// Serves the metrics of a registry, and none about itself.
class metrics_page final : public CivetHandler {
 public:
  explicit metrics_page(const prometheus::Registry& of) : of_(of) {}

  bool handleGet(CivetServer* /*server*/, mg_connection* to) override {
    const std::string text = prometheus::TextSerializer().Serialize(of_.Collect());
    mg_printf(to,
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
              "Content-Length: %zu\r\nConnection: close\r\n\r\n",
              text.size());
    mg_write(to, text.data(), text.size());
    return true;
  }

 private:
  const prometheus::Registry& of_;
};

std::unique_ptr<CivetServer> listen(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size())
    throw parameter_error(
        fmt::format("--metrics {} is no address; give host:port, as in 127.0.0.1:9464", address));
  try {
    // An idle connection occupies one of these threads until it times out.
    return std::make_unique<CivetServer>(std::vector<std::string>{"listening_ports", address, "num_threads",
                                                                  "4", "request_timeout_ms", "2000"});
  } catch (const std::exception& e) {
    throw storage_error(fmt::format("cannot listen on {}: {}; is the port taken? Give --metrics another one",
                                    address, e.what()),
                        EADDRINUSE, address);
  }
}

}  // namespace

struct stream_metrics::families {
  prometheus::Registry registry;
  metrics_page page{registry};
  std::unique_ptr<CivetServer> server;  // destroyed before what it shows
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

  families(const std::string& address, const std::string& name)
      : server(listen(address)), job{{"job_name", shown_name(name)}} {
    server->addHandler("/metrics$", page);
  }
};

stream_metrics::stream_metrics(const std::string& address, const std::string& job_name)
    : families_(std::make_unique<families>(address, job_name)) {}
stream_metrics::~stream_metrics() = default;

void stream_metrics::show(const job_result& now) {
  raise_to(families_->fresh, now.verdicts.fresh);
  raise_to(families_->seen, now.verdicts.seen);
  raise_to(families_->late, now.verdicts.late);
  raise_to(families_->unknown, now.verdicts.unknown);
  raise_to(families_->bad, now.bad);
  raise_to(families_->replayed, now.replayed);
  raise_to(families_->bytes, now.bytes);
  if (now.lag) families_->set_lag(static_cast<double>(*now.lag));
  if (now.newest)
    families_->set_watermark(static_cast<double>(now.newest->time_since_epoch().count()) / 1000);
}

void stream_metrics::settled(std::chrono::duration<double> after) {
  families_->latency.Observe(after.count());
}

}  // namespace everseen::cli
