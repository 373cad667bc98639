#include <cerrno>
#include <chrono>
#include <memory>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>

#include "everseen/cli/count_table.hpp"
#include "everseen/cli/dimensions.hpp"
#include "everseen/cli/dry_ledger.hpp"
#include "everseen/cli/printer.hpp"
#include "everseen/cli/progress.hpp"
#include "everseen/cli/signals.hpp"
#include "everseen/cli/stats_file.hpp"
#include "everseen/cli/stream_arguments.hpp"
#include "everseen/cli/stream_ends.hpp"
#include "everseen/cli/stream_metrics.hpp"
#include "everseen/cli/stream_report.hpp"
#include "everseen/cli/verbs.hpp"
#include "everseen/cli/watched_store.hpp"
#include "everseen/core/error.hpp"
#include "everseen/store/disk.hpp"
#include "everseen/stream/job.hpp"

namespace everseen::cli {

namespace {

constexpr std::uint64_t default_capacity = 1'000'000;

spec_request request_of(const stream_arguments& given) {
  spec_request request;
  request.error_rate = given.error_rate.value_or(request.error_rate);
  request.capacity = given.capacity.value_or(default_capacity);
  request.hash = given.hash.value_or(request.hash);
  if (given.window) request.window = {*given.window, static_cast<std::uint32_t>(given.slices.value_or(10))};
  return request;
}

filter filter_of(const stream_arguments& given, store& place) {
  const std::string name = given.filter_name.value_or("dry");
  const bool known = place.exists(name);
  if (!known) must_have_room(place, place.plan(request_of(given)));
  filter opened = open_or_create(place, name, request_of(given));
  if (known) must_agree(given, opened);
  warn_of(place);
  return opened;
}

/// A job goes on with the events it began with: other keys or counters would be another job.
std::unique_ptr<ledger> ledger_of(const stream_arguments& given, const filter& seen,
                                  const std::string& what) {
  if (given.dry_run)
    return std::make_unique<dry_ledger>(std::shared_ptr<stored_filter>(&seen.stored(), [](auto*) {}), what);
  const std::string name = given.job.value_or(std::string(default_job));
  auto book = seen.stored().open_ledger(name, what);
  if (book->description() == what) return book;
  throw parameter_error(
      fmt::format("the job '{}' was begun with {}, and this is {}; give the same options, or another --job",
                  name, book->description(), what));
}

/// A file that repeats, late or bad events are appended to.
class side_output {
 public:
  explicit side_output(const std::optional<std::string>& path) {
    if (!path) return;
    file_ = descriptor(::open(path->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!file_) throw disk_error("write", *path, errno);
    out_.emplace(file_.get(), *path);
  }
  [[nodiscard]] output* get() noexcept { return out_ ? &*out_ : nullptr; }

 private:
  descriptor file_;
  std::optional<output> out_;
};

std::optional<std::string> file_of_bad_events(const stream_arguments& given) {
  if (!given.bad_events || *given.bad_events == "fail" || *given.bad_events == "skip") return std::nullopt;
  return given.bad_events;
}

job_options options_of(const stream_arguments& given, const filter& seen) {
  job_options options;
  options.events = shape_of(given);
  options.reading.on_bad = given.bad_events.value_or("fail") == "fail" ? bad_events::fail : bad_events::skip;
  options.reading.max_ahead = given.max_ahead;
  if (const auto& window = seen.get_spec().window; window && options.events.time && !given.max_ahead)
    options.reading.max_ahead = window->width;  // then no believable time makes the present late
  options.reading.clock = [] {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  };
  if (given.settle_every) options.settle_every = *given.settle_every;
  if (given.on_outage == outage_watch::policy::pass) options.on_outage = job_options::outage::pass;
  return options;
}

/// Source and sink under a watch, for as long as this lives: whoever holds events back while the store is
/// away waits for their servers, too, which may be the same.
class watched_ends {
 public:
  watched_ends(const job_parts& watched, const std::shared_ptr<patience>& by) : watched_(watched) { set(by); }
  ~watched_ends() { set(nullptr); }
  watched_ends(const watched_ends&) = delete;
  watched_ends& operator=(const watched_ends&) = delete;

 private:
  void set(const std::shared_ptr<patience>& by) {
    watched_.from.wait_with(by);
    if (watched_.to != nullptr) watched_.to->wait_with(by);
  }

  job_parts watched_;
};

/// A watch that tells the sink, too, that the store is away.
class sink_is_told final : public patience {
 public:
  sink_is_told(std::shared_ptr<patience> watch, sink* to) : watch_(std::move(watch)), to_(to) {}
  bool tries_again(const outage& now) override {
    const bool again = watch_->tries_again(now);
    if (again && to_ != nullptr) to_->store_is_away(now.lasted);
    return again;
  }
  void is_over() override { watch_->is_over(); }

 private:
  std::shared_ptr<patience> watch_;
  sink* to_;
};

/// What a run is made of, in the order in which it is opened: what is wrong is found before anything is made.
struct stream_run {
  const stream_arguments& given;
  std::optional<stats_file> stats{};
  std::optional<stream_metrics> metrics{};
  side_output seen_to{given.seen_to}, late_to{given.late_to}, bad_to{file_of_bad_events(given)};
  stream_source from = open_source(given);

  void operator()(printer& out) {
    const auto place = open_store(given.dry_run ? "mem:" : store_url(given.store.url));
    filter seen = filter_of(given, *place);
    job_options options = options_of(given, seen);
    const auto book = ledger_of(given, seen, describe_job(options.events));
    const stream_sink to = open_sink(given, seen, *from.opened, out.descriptor());
    must_be_our_worker(given, *book, from.name);
    must_be_our_worker(given, *book, to.name);
    options.sink_name = to.name;
    options.seen_to = seen_to.get();
    options.late_to = late_to.get();
    options.bad_to = bad_to.get();
    watch({seen, *book, *from.opened, to.opened.get()}, std::move(options));
    if (given.dry_run) print_table(count(*book, {}), out);
  }

  void watch(const job_parts& parts, job_options options) {
    progress_line progress(from.total_bytes, parts.seen.stored().way(), given.to != "-");
    job* running = nullptr;
    options.progress = [&](const job_result& now) {
      if (is_signalled()) running->stop();
      if (metrics) metrics->show(now);
      progress.show({now.events + now.bad, now.bytes, now.lag});
    };
    if (metrics) options.settled = [&](std::chrono::duration<double> after) { metrics->settled(after); };
    options.warn = [&](const std::string& text) { progress.say(text); };
    job work(parts, std::move(options));
    running = &work;
    const auto ends = [&] {
      if (is_signalled()) work.stop();
      return is_signalled();
    };
    const auto how = given.on_outage.value_or(outage_watch::policy::fail);
    const auto watching = std::make_shared<outage_watch>(
        how, [&](const std::string& text) { progress.say(text); }, ends);
    const watched_store watched(parts.seen.stored(), std::make_shared<sink_is_told>(watching, parts.to));
    std::optional<watched_ends> held;
    if (how == outage_watch::policy::hold) held.emplace(parts, watching);
    const auto begin = std::chrono::steady_clock::now();
    const auto tell = [&] {
      if (stats) stats->write(job_stats(work.result(), std::chrono::steady_clock::now() - begin));
      if (!stats || given.stats != "-") progress.say(job_summary(work.result()));
    };
    try {
      work.run();
    } catch (...) {
      tell();
      throw;
    }
    tell();
    stop_if_signalled();
  }
};

exit_code stream(const stream_arguments& given, printer& out) {
  must_make_sense(given);
  static_cast<void>(event_rule(shape_of(given)));  // refuses what can never match
  note_signals();
  stream_run run{given};
  if (given.stats) run.stats.emplace(*given.stats);
  if (given.metrics) run.metrics.emplace(*given.metrics, given.job.value_or(std::string(default_job)));
  run(out);
  return exit_code::done;
}

action declare(CLI::App& app) {
  const auto given = std::make_shared<stream_arguments>();
  declare_stream_arguments(app, *given);
  return [given](printer& out) { return stream(*given, out); };
}

constexpr std::string_view details =
    "Reads events, asks a filter which are fresh, and counts or puts out each of them once, also when this "
    "program, the server or the machine dies in between: the filter keeps, beside its bits, which events of "
    "which source it has judged and how, so that a run that goes on after a crash gets the same answers. "
    "doc/semantics.md says for each source and sink what is promised.\n\n"
    "With --count, each fresh event raises one counter for every set of dimensions, in the same step that "
    "adds "
    "its key; everseen counts prints them. Counters need a Redis store. A dimension is a field, with a name "
    "before it if it is to have another one (country=/geo/cc), and with a length of time before it if it is "
    "a "
    "time (minute:/time, 10m:/time, hour:3, day:3).\n\n"
    "A file is read on from where the job was. Standard input is to be given again from its beginning; what "
    "was settled is skipped. A file to write to is cut back to what was settled, so that nothing is in it "
    "twice; on standard output, what was printed after the last settlement, a tenth of a second, comes again "
    "after a crash. SIGTERM and SIGINT end the job in order.\n\n"
    "kafka://HOST:PORT,HOST:PORT/TOPIC reads as a member of a consumer group, and commits offsets when their "
    "events are settled; several workers share the partitions. After ? stand, separated by &: group=NAME, "
    "start=earliest|latest for a group that is new, until=end to end when everything was read, gap=skip to "
    "go on where events were removed before they were read, retry_for=60s for brokers that are away, "
    "config=FILE with a property=value a line, and every property of librdkafka that has a dot in its name, "
    "as security.protocol=ssl. As a sink it gets fresh events; from Kafka, these and the offsets are one "
    "transaction, so whoever reads committed messages alone meets each once.\n\n"
    "redis-stream:STREAM?group=NAME reads a stream of the store's server, or of another whose URL follows "
    "behind @. Each worker is a consumer of its own (consumer=NAME, by default the machine's name); when one "
    "is silent for claim_after=10s, others take over what it left. An event is the field of field=NAME, or a "
    "JSON object of all fields. As a sink it gets each fresh event once, in field=event; maxlen=N trims "
    "it.\n\n"
    "A job is what it was begun with: the same key, time and counts must be given when it goes on. Several "
    "jobs may use one filter; an event is then fresh in one of them.";

}  // namespace

verb stream_verb() {
  constexpr std::string_view scene = "everseen gen clicks --count 1000 --repeats 5% > clicks.jsonl";
  return {"stream",
          "Count each event of a stream once, whatever crashes",
          details,
          {{"Clicks by ten minutes and site, and in all",
            "everseen stream --from clicks.jsonl --filter clicks --key-json /id --time-json /time "
            "--count 10m:/time,/site --count ''",
            scene},
           {"Fresh clicks into a file, each once",
            "everseen stream --from clicks.jsonl --filter clicks --key-json /id --to fresh.jsonl", scene},
           {"What would be counted",
            "everseen stream --from clicks.jsonl --key-json /id --count /site --dry-run", scene}},
          declare};
}

}  // namespace everseen::cli
