#include "everseen/cli/stream/stream_run.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "everseen/cli/long_run/filter_options.hpp"
#include "everseen/cli/long_run/outage_watch.hpp"
#include "everseen/cli/stream/counts.hpp"
#include "everseen/cli/stream/jobs.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/spec/time_text.hpp"
#include "everseen/jobs/deferred_ledger.hpp"
#include "everseen/jobs/kafka/kafka_url.hpp"
#include "everseen/jobs/redis/redis_stream_url.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

void say(const std::string& text) {
  fmt::print(stderr, "everseen: {}\n", text);
}

/// The filter of a dry run: an empty one like the existing filter, if there is one.
filter dry_filter(const stream_arguments& given, store& memory) {
  if (given.filter_name)
    if (const auto place = open_chosen(given.store); place->exists(*given.filter_name)) {
      const filter real(*given.filter_name, place->open(*given.filter_name, access::read));
      must_agree(given, *place, real);
      say(fmt::format("judging by an empty filter like {}: its keys are not used", quoted_name(real.name())));
      return {real.name(), memory.create(real.name(), real.get_spec())};
    }
  const std::string name = given.filter_name.value_or("dry");
  return {name, memory.create(name, memory.plan(request_of(given)))};
}

/// Makes source and sink wait by the same policy during this object's lifetime: a run that holds events back
/// while its store is unavailable also waits for their servers, which may be the same.
class watched_ends {
 public:
  watched_ends(const job_parts& watched, const std::shared_ptr<retry_policy>& policy) : watched_(watched) {
    set(policy);
  }
  ~watched_ends() { set(nullptr); }
  watched_ends(const watched_ends&) = delete;
  watched_ends& operator=(const watched_ends&) = delete;

 private:
  void set(const std::shared_ptr<retry_policy>& policy) {
    watched_.from.wait_with(policy);
    if (watched_.target != nullptr) watched_.target->wait_with(policy);
  }

  job_parts watched_;
};

/// A policy that also informs the sink that the store is unavailable.
class notifying_policy final : public retry_policy {
 public:
  notifying_policy(std::shared_ptr<retry_policy> watch, sink* target)
      : watch_(std::move(watch)), target_(target) {}
  bool tries_again(const outage& trouble) override {
    const bool again = watch_->tries_again(trouble);
    if (again && target_ != nullptr) target_->store_is_unavailable(trouble.lasted);
    return again;
  }
  void on_recovered() override { watch_->on_recovered(); }

 private:
  std::shared_ptr<retry_policy> watch_;
  sink* target_;
};

}  // namespace

side_output::side_output(const std::optional<std::string>& path) {
  if (!path) return;
  file_ = descriptor(::open(path->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file_) throw disk_error("write", *path, errno);
  out_.emplace(file_.get(), *path);
}

stream_run::stream_run(const stream_arguments& given, stream_source from, event_shape events)
    : given_(given),
      from_(std::move(from)),
      events_(std::move(events)),
      seen_to_(given.seen_to),
      late_to_(given.late_to),
      bad_to_(file_of_bad_events(given)) {
  if (given.stats) stats_.emplace(*given.stats);
  if (given.metrics) metrics_.emplace(*given.metrics, given.job.value_or(std::string(default_job)));
}

filter stream_run::open_filter(store& place) const {
  if (given_.dry_run) return dry_filter(given_, place);
  if (!given_.counts.empty() && !place.traits().is_remote)
    throw parameter_error(
        "counters are kept by Redis alone, in one step with the keys: give --store redis://HOST:PORT, or "
        "leave --count out and put fresh events out, as in --to fresh.jsonl");
  if (given_.existing) {
    filter opened = existing_filter(place, *given_.filter_name);
    must_agree(given_, place, opened);
    return opened;
  }
  if (place.exists(*given_.filter_name)) {
    filter opened(*given_.filter_name, place.open(*given_.filter_name, access::write));
    must_agree(given_, place, opened);
    return opened;
  }
  must_have_room(place, place.plan(request_of(given_)));
  return open_or_create(place, *given_.filter_name, request_of(given_));
}

/// A job continues with the events that it began with: other keys or counters would be a different job.
std::unique_ptr<ledger> stream_run::open_ledger(const filter& f) const {
  const std::string subject = describe_job(events_);
  const std::string name = given_.job.value_or(std::string(default_job));
  if (given_.dry_run) return f.stored().open_ledger(name, subject);
  if (given_.existing && !f.stored().open_ledger(name, std::nullopt))
    throw is_gone(fmt::format("the job {} of the filter {}", quoted_name(name), quoted_name(f.name())));
  return std::make_unique<deferred_ledger>(
      f.stored(), name, subject, [name, subject, filter = f.name()](const std::string& begun_with) {
        if (are_alike(begun_with, subject)) return;
        throw parameter_error(fmt::format(
            "the job {0} was begun with {1}; give the same, or begin another --job for other "
            "events; to start this one over, without its counts and its position: everseen jobs "
            "{2} --end {3}, and, since the keys stay, everseen reset {2}",
            quoted_name(name), differences(begun_with, subject), name_argument(filter), name_argument(name)));
      });
}

job_options stream_run::options_for(const filter& f) const {
  job_options options;
  options.events = events_;
  options.reading.on_bad = given_.bad_events.value_or("fail") == "fail" ? bad_events::fail : bad_events::skip;
  // What a broker has without a value was sent as a record.
  const bool reads_lines = !is_kafka_url(*given_.from) && !is_redis_stream_url(*given_.from);
  options.reading.on_no_record =
      reads_lines && !given_.bad_events ? bad_events::skip : options.reading.on_bad;
  options.reading.max_ahead = given_.max_ahead;
  if (const auto& window = f.get_spec().window; window && options.events.time && !given_.max_ahead)
    options.reading.max_ahead = window::most_ahead(*window);
  options.reading.clock = [] {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  };
  options.reading.needs_value = sink_needs_value(given_);
  if (const record_format format = given_.records.format(); is_of_lines(given_) && !format.quoted)
    options.reading.separator = format.separator;
  if (given_.settle_every) options.settle_every = *given_.settle_every;
  if (given_.on_outage == outage_watch::policy::pass) options.on_outage = job_options::outage::pass;
  return options;
}

/// Prints once a job what the store's settings could lose; and what a power loss may have taken from files,
/// until the job has settled again.
void stream_run::must_lose_nothing(const store& place, const ledger& ledger) const {
  if (ledger.checkpoints().empty()) warn_of(place, store::concern::jobs);
  if (const std::string doubt = ledger.doubt(); !doubt.empty())
    fmt::print(stderr, "everseen: warning: {}\n", doubt);
}

void stream_run::operator()(printer& out) {
  const auto place = given_.dry_run ? open_store("mem:") : open_chosen(given_.store);
  const bool is_new = !given_.dry_run && !place->traits().is_remote && !place->exists(*given_.filter_name);
  try {
    run_on(*place, out);
  } catch (const backend_error&) {
    stop_if_signalled();
    throw;
  } catch (...) {
    if (is_new) discard_if_unused(*place);
    throw;
  }
}

/// Lets the next attempt create a different filter. Not on servers, where another process may already use
/// it.
void stream_run::discard_if_unused(store& place) const noexcept {
  try {
    const std::string& name = *given_.filter_name;
    if (!place.exists(name)) return;
    const filter made(name, place.open(name, access::read));
    if (place.jobs(name).empty() && made.info().keys == 0) place.drop(name);
  } catch (const error&) {  // the original error is reported
  }
}

void stream_run::run_on(store& place, printer& out) {
  std::optional<watched_store> held;
  if (given_.on_outage == outage_watch::policy::hold)
    held.emplace(place, std::make_shared<outage_watch>(outage_watch::policy::hold, say, is_signalled));
  filter f = open_filter(place);
  job_options options = options_for(f);
  const auto ledger = open_ledger(f);
  const stream_sink target = open_sink(given_, f, *ledger, from_, out.descriptor());
  const sink_place mark = place_of(given_, f, *ledger, target, say);
  const auto must_be_ours = [&] {
    must_be_our_worker(given_, *ledger, from_.name);
    if (!target.worker.empty()) must_be_our_worker(given_, *ledger, mark.name);
  };
  must_be_ours();
  options.examine = [&] {
    must_be_the_place(given_, *ledger, target, mark);
    must_be_ours();
  };
  if (!given_.dry_run) must_lose_nothing(place, *ledger);
  options.sink_name = mark.name;
  options.sink_order = mark.order;
  options.seen_to = seen_to_.get();
  options.late_to = late_to_.get();
  options.bad_to = bad_to_.get();
  options.separator = given_.records.format().separator;
  run(place, {f, *ledger, *from_.opened, target.opened.get()}, std::move(options), f.stored().path().text);
  if (given_.dry_run) print_table(count(*ledger, {}), out);
}

void stream_run::run(store& place, const job_parts& parts, job_options options,
                     const std::string& access_path) {
  progress_line progress(from_.total_bytes, access_path, given_.target == "-");
  if (given_.quiet) progress.hide();
  job* running = nullptr;
  bool has_warned = false;
  options.progress = [&](const job_result& result) {
    if (!result.absent.empty() && !std::exchange(has_warned, true))
      progress.say(
          absence_warning(result, parts.known_keys.name(), given_.job.value_or(std::string(default_job))));
    if (is_signalled()) running->stop();
    if (metrics_) metrics_->show(result);
    progress.show({result.events + result.bad, result.bytes, result.lag, result.newest});
  };
  load_with_progress(parts.known_keys, progress);
  if (metrics_) options.settled = [&](std::chrono::duration<double> after) { metrics_->settled(after); };
  options.warn = [&](const std::string& text) { progress.say(text); };
  job work(parts, std::move(options));
  running = &work;
  const auto ends = [&] {
    if (is_signalled()) work.stop();
    return is_signalled();
  };
  const auto reaction = given_.on_outage.value_or(outage_watch::policy::fail);
  const auto watching = std::make_shared<outage_watch>(
      reaction, [&](const std::string& text) { progress.say(text); }, ends);
  const watched_store watched(place, std::make_shared<notifying_policy>(watching, parts.target));
  std::optional<watched_ends> held;
  if (reaction == outage_watch::policy::hold) held.emplace(parts, watching);
  const auto begin = std::chrono::steady_clock::now();
  const auto lasted = [&] { return std::chrono::steady_clock::now() - begin; };
  try {
    work.run();
  } catch (...) {
    const bool did_something = work.result().events + work.result().bad > 0;
    tell(work.result(), lasted(), did_something ? &progress : nullptr);
    throw;
  }
  tell(work.result(), lasted(), &progress);
  if (work.result().verdicts.late > 0 && !given_.quiet)
    if (const auto why = future_warning(parts.known_keys.info())) progress.say("warning: " + *why);
  stop_if_signalled();
}

/// @param progress  null: the run failed before it did anything, so only the error is reported
void stream_run::tell(const job_result& result, std::chrono::duration<double> lasted,
                      progress_line* progress) const {
  if (stats_) stats_->write(job_stats(result, lasted));
  if (progress != nullptr && !given_.quiet && (!stats_ || given_.stats != "-"))
    progress->say(job_summary(result));
}

std::string job_summary(const job_result& result) {
  const tally& t = result.verdicts;
  const bool has_only_bad = result.bad > 0 && result.events == 0;
  std::string text =
      fmt::format("{}{} {}: {} fresh, {} seen", has_only_bad ? "warning: " : "", format_count(result.events),
                  result.events == 1 ? "event" : "events", format_count(t.fresh), format_count(t.seen));
  if (t.late > 0) text += fmt::format(", {} late", format_count(t.late));
  if (result.bad == 1) text += "; 1 record was no event";
  if (result.bad > 1) text += fmt::format("; {} records were no events", format_count(result.bad));
  if (result.bad > 0) text += (result.bad == 1 ? ": it " : "; the first ") + result.first_bad;
  if (has_only_bad) text += "; is the key right?";
  if (result.replayed > 0)
    text += fmt::format("; {} were judged before by a run that did not end", format_count(result.replayed));
  if (result.passed)
    text += fmt::format("; {} were put out without a verdict: {}", format_count(t.unknown),
                        result.passed->message);
  return text;
}

std::string absence_warning(const job_result& result, const std::string& filter, const std::string& job) {
  return fmt::format(
      "warning: none of the first {} events has {}, so an empty value is counted; if the name is wrong, "
      "begin again: everseen jobs {} --end {}, then everseen reset {}, if it holds nothing else",
      format_count(result.events), fmt::join(result.absent, ", "), name_argument(filter), name_argument(job),
      name_argument(filter));
}

std::string job_stats(const job_result& result, std::chrono::duration<double> lasted) {
  nlohmann::ordered_json json;
  json["events"] = result.events;
  json["fresh"] = result.verdicts.fresh;
  json["seen"] = result.verdicts.seen;
  json["late"] = result.verdicts.late;
  json["unknown"] = result.verdicts.unknown;
  json["bad"] = result.bad;
  json["replayed"] = result.replayed;
  json["watermark"] = nullptr;
  if (result.newest) json["watermark"] = format_event_time(*result.newest);
  json["seconds"] = lasted.count();
  json["bytes"] = result.bytes;
  return json.dump(2) + '\n';
}

}  // namespace everseen::cli
