#include "everseen/cli/stream/stream_arguments.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/record_options.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/everseen.hpp"
#include "everseen/jobs/kafka/kafka_url.hpp"
#include "everseen/jobs/redis/redis_stream_url.hpp"

// Options are declared in the order in which help shows them. must_make_sense() knows everything that can be
// refused without a look at the store or the source, and is called before either is touched.

namespace everseen::cli {

namespace {

void declare_ends(option_set& known, stream_arguments& given) {
  add_text(known, "--from", given.from,
           {"SOURCE",
            "where events come from: a file, - for standard input, kafka://HOST:PORT/TOPIC?group=GROUP, or "
            "redis-stream:STREAM?group=GROUP"});
  add_text(known, "--to", given.target,
           {"SINK",
            "where fresh events go: counts, a file, - for standard output, kafka://HOST:PORT/TOPIC, or "
            "redis-stream:STREAM",
            "counts"});
  add_name(known, "--job", given.job,
           {"JOB", "the name under which the filter remembers the progress of this job",
            std::string(default_job)});
  add_text(known, "--worker", given.worker,
           {"NAME",
            "the name of this worker of the job; together with the path it identifies a file, as every "
            "machine has its own",
            "the machine's name"});
  add_switch(known, "--follow", given.follow, "wait at the end of a file for more lines");
  add_null(known, given.records.zero, "records");
  add_switch(known, "--move-output", given.move_output,
             "resume the job with another --to, or with a new file if the old one was moved away; earlier "
             "output stays where it is");
}

void declare_filter(option_set& known, stream_arguments& given) {
  add_name(known, "--filter", given.filter_name,
           {"NAME", "the filter that remembers the keys; created if there is none"});
  add_store_options(known, given.store, access::write);
  add_filter_options(
      known, given,
      {.error_rate = "the share of new events that may be taken for repeats by mistake",
       .capacity = "how many different keys to make room for; the filter grows if there are more",
       .usual_capacity = "1M",
       .usual_hash = "xxh3"});
  add_window_options(known, given);
  add_switch(known, "--existing", given.existing,
             "filter and job must exist; if one does not, exit with 4 and create nothing");
}

void declare_event(option_set& known, stream_arguments& given) {
  declare_key(known, given.records);
  add_option(known, "--key-kafka",
             {"key|header:NAME", "the key: that of the message of Kafka, or the last header of this name"},
             [&given](std::string_view option, std::string_view text) {
               constexpr std::string_view header = "header:";
               if (text == "key")
                 given.key_beside.emplace();
               else if (text.starts_with(header) && text.size() > header.size())
                 given.key_beside = envelope_key{std::string(text.substr(header.size()))};
               else
                 throw parameter_error(
                     fmt::format("{} {}: give key, or header: and its name, as in header:id", option, text));
             });
  declare_time(known, given.records);
  add_texts(known, "--count", given.counts,
            {"DIMENSION,...",
             "count fresh events by these together, each [NAME=][TIME:]FIELD, as in "
             "10m:/time,/site; '' is the total; may be repeated"});
  add_duration(known, "--max-ahead", given.max_ahead,
               {"TIME", "an event whose time is further ahead of the clock is bad",
                "a slice of the window, at least 1m"});
}

}  // namespace

void declare_stream_arguments(option_set& known, stream_arguments& into) {
  declare_ends(known, into);
  declare_filter(known, into);
  declare_event(known, into);
  add_text(
      known, "--bad-events", into.bad_events,
      {"fail|skip|FILE", "if a record is not an event: stop, skip it, or write it to this file", "fail"});
  add_text(known, "--seen-to", into.seen_to, {"FILE", "append repeats to this file"});
  add_text(known, "--late-to", into.late_to,
           {"FILE", "append events that are older than the window to this file"});
  add_choice(known, "--on-outage", into.on_outage,
             {"fail|pass|hold", "if the store is unavailable: stop, output events without a verdict, or wait",
              "fail"},
             parse_outage);
  add_duration(
      known, "--settle-every", into.settle_every,
      {"TIME",
       "how often progress is recorded, at least every 250,000 events; a crash repeats that much work",
       "100ms"});
  add_count(known, "--block", into.block_bytes, {4096, 64 << 20},
            {"BYTES", "how much of a file is read, judged and output at a time", "1Mi"});
  add_switch(known, "--dry-run", into.dry_run,
             "judge by an empty filter in memory, print what would be counted, and touch nothing");
  add_text(known, "--metrics", into.metrics,
           {"ADDRESS:PORT", "serve metrics for Prometheus at this address, as in 127.0.0.1:9464"});
  add_optional_text(known, "--stats", into.stats, "-",
                    {"FILE", "when done, write counts as JSON to this file, or to standard error"});
  add_switch(known, "-q,--quiet", into.quiet, "print no summary and no progress on standard error");
  add_text(known, "--config", into.config,
           {"FILE", "read options from the table [stream] of this TOML file", "$EVERSEEN_CONFIG"});
  add_switch(known, "--check-config", into.check_config,
             "check the options, print those in effect, and read nothing");
}

event_shape shape_of(const stream_arguments& given, const std::optional<std::string>& header) {
  event_shape shape = shape_of(given.records, header);
  shape.beside = given.key_beside;
  const field_words fields = words_of(given.records, header);
  for (const std::string& text : given.counts) shape.counts.push_back(parse_dimensions(text, fields));
  return shape;
}

std::optional<std::string> file_of_bad_events(const stream_arguments& given) {
  if (!given.bad_events || *given.bad_events == "fail" || *given.bad_events == "skip") return std::nullopt;
  return given.bad_events;
}

bool counts_only(const stream_arguments& given) {
  return given.target.value_or("counts") == "counts";
}

bool is_of_lines(const stream_arguments& given) {
  return !counts_only(given) && !is_kafka_url(*given.target) && !is_redis_stream_url(*given.target);
}

namespace {

/// A job that reads its own output never ends, and changes its input.
void must_not_be_read(const stream_arguments& given, std::string_view option,
                      const std::optional<std::string>& written) {
  std::error_code none;  // a missing file is not the one that is read
  if (written && std::filesystem::equivalent(*given.from, *written, none))
    throw parameter_error(std::string(option) + " would write into the file that is read, '" + *given.from +
                          "'; name another one");
}

}  // namespace

void must_make_sense(const stream_arguments& given) {
  if (!given.from)
    throw parameter_error("stream needs --from; say where events come from, as in --from clicks.jsonl");
  if (!given.filter_name && !given.dry_run)
    throw parameter_error(
        "stream needs --filter; say which filter is to remember the keys, as in --filter clicks");
  must_not_be_read(given, "--to", given.target);
  must_not_be_read(given, "--seen-to", given.seen_to);
  must_not_be_read(given, "--late-to", given.late_to);
  must_not_be_read(given, "--bad-events", given.bad_events);
  if (counts_only(given) && given.counts.empty())
    throw parameter_error(
        "there is nothing to do: say what to count by, as in --count 10m:/time,/site, or where fresh events "
        "go, as in --to fresh.jsonl");
  if (given.dry_run && !counts_only(given)) throw parameter_error("--dry-run has no output; leave out --to");
  if (given.dry_run && (given.seen_to || given.late_to || file_of_bad_events(given)))
    throw parameter_error(
        "--dry-run touches nothing; leave out --seen-to, --late-to and --bad-events FILE (skip it may)");
  if (given.dry_run && given.existing)
    throw parameter_error("--dry-run creates nothing; leave out --existing");
  if (given.move_output && counts_only(given) && given.target != "counts")
    throw parameter_error("--move-output continues the job with another sink; give --to as well");
  if (given.settle_every > std::chrono::minutes(1))
    throw parameter_error(
        "--settle-every is at most 1m: unsettled events are remembered one by one, and repeated after a "
        "crash");
  if (given.slices && !given.window)
    throw parameter_error("--slices divides a window; give --window as well");
  if (!given.counts.empty() && given.on_outage == outage_watch::policy::pass)
    throw parameter_error(
        "counters are in the store, so events passed during an outage would be counted nowhere; use "
        "--on-outage hold, or leave out --count");
  if (given.max_ahead && !given.records.time)
    throw parameter_error("--max-ahead is about times in the events; give --time as well");
  if (given.key_beside && !given.records.key.empty())
    throw parameter_error(
        fmt::format("{} and --key-kafka exclude each other; give one", given.records.key.front().option));
  if (given.key_beside && !is_kafka_url(given.from.value_or("")))
    throw parameter_error("--key-kafka is about messages of Kafka; give --from kafka://..., or --key");
  must_have_effect(given.records, !given.counts.empty());
}

namespace {

/// Takes the text before the first `mark` off the front, unless a field begins before the mark.
std::optional<std::string_view> take_until(char mark, std::string_view& text) {
  const std::size_t position = text.find(mark);
  if (position == std::string_view::npos || text.find('/') < position) return std::nullopt;
  const std::string_view before = text.substr(0, position);
  text.remove_prefix(position + 1);
  return before;
}

std::chrono::milliseconds parse_interval(std::string_view text) {
  if (text == "minute") return std::chrono::minutes(1);
  if (text == "hour") return std::chrono::hours(1);
  if (text == "day") return std::chrono::hours(24);
  return parse_duration("--count", text);
}

dimension parse_dimension(std::string_view text, const field_words& fields) {
  dimension result;
  const auto name = take_until('=', text);
  if (const auto interval = take_until(':', text)) result.truncation = parse_interval(*interval);
  result.field = parse_field({"--count", std::string(text)}, fields);
  result.name = name.value_or(text.substr(text.rfind('/') + 1));
  if (result.name == "count")
    throw parameter_error(
        "--count has a dimension named count, as the column of the counts is; name it, as in n=/count");
  if (result.name.empty())
    throw parameter_error(fmt::format("--count {} has no name; give one, as in site={}", text, text));
  return result;
}

}  // namespace

dimension_set parse_dimensions(std::string_view text, const field_words& fields) {
  dimension_set set;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    dimension next = parse_dimension(text.substr(0, comma), fields);
    if (std::any_of(set.begin(), set.end(), [&](const auto& d) { return d.name == next.name; }))
      throw parameter_error(fmt::format("--count has two dimensions named {}; name them, as in first={}",
                                        next.name, text.substr(0, comma)));
    set.push_back(std::move(next));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return set;
}

}  // namespace everseen::cli
