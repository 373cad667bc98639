#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "everseen/cli/stream/stream_arguments.hpp"
#include "everseen/cli/stream/stream_ends.hpp"
#include "everseen/cli/stream/stream_run.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/verbs.hpp"

namespace everseen::cli {

namespace {

exit_code stream(const stream_arguments& given, printer& out) {
  must_make_sense(given);
  // Refuses rules that can never match before anything is opened; field names from a header are not known
  // yet.
  if (!given.records.header) static_cast<void>(event_rule(shape_of(given, {})));
  if (given.check_config) return exit_code::done;
  note_signals();
  stream_source from = open_source(given);
  if (given.records.header && !from.header) {  // which field a name means is known only when there is a line
    if (!given.quiet) fmt::print(stderr, "everseen: {} is empty; nothing was read or begun\n", from.name);
    return exit_code::done;
  }
  event_shape events = shape_of(given, from.header);
  static_cast<void>(event_rule(events));
  stream_run run(given, std::move(from), std::move(events));
  run(out);
  return exit_code::done;
}

action declare_stream(option_set& known) {
  const auto given = std::make_shared<stream_arguments>();
  declare_stream_arguments(known, *given);
  return [given](printer& out) { return stream(*given, out); };
}

constexpr std::string_view stream_details =
    "Reads events, asks a filter which are fresh, and counts or outputs each fresh event exactly once, even "
    "if this program, the server or the machine crashes in between. The filter records, beside its bits, "
    "which events of each source it has judged and how, so that a run that resumes after a crash gets the "
    "same answers. doc/streams.md lists the guarantees for each source and sink.\n\n"
    "With --count, each fresh event increments one counter for every set of dimensions, in the same step "
    "that adds its key; everseen counts prints them. Counters need a Redis store. A dimension is a field, "
    "optionally with a name (country=/geo/cc), and for times with a unit (minute:/time, 10m:/time, hour:3, "
    "day:3). Intervals are those of UTC; with --time-zone, days are those of that zone, written as dates.\n\n"
    "A file is read from the job's last position. Standard input must be given again from its beginning; "
    "events that are settled are skipped. An output file gets only settled events, so none is in it twice. "
    "On standard output, the events printed since the last settlement, a tenth of a second, are repeated "
    "after a crash. SIGTERM and SIGINT end the job in an orderly way.\n\n"
    "kafka://HOST:PORT,HOST:PORT/TOPIC reads as a member of a consumer group, and commits offsets when their "
    "events are settled; several workers share the partitions. Parameters follow after ?, separated by &: "
    "group=NAME, start=earliest|latest for a new group, until=end to stop when everything is read, gap=skip "
    "to continue if events were deleted before they were read, retry_for=60s for brokers that are "
    "unavailable, config=FILE with one property=value per line, and every property of librdkafka with a dot "
    "in its name, for example security.protocol=ssl. As a sink, the topic gets the fresh events. If the "
    "source is Kafka too, these and the offsets are one transaction, so consumers that read only committed "
    "messages get each event once.\n\n"
    "redis-stream:STREAM?group=NAME reads a stream of the store's server, or of another one whose URL "
    "follows after @. Each worker is a separate consumer (consumer=NAME, by default the machine's name); if "
    "one is silent for claim_after=10s, others take over its entries. An event is the field given by "
    "field=NAME, or a JSON object of all fields. As a sink, the stream gets each fresh event once, in "
    "field=event; maxlen=N trims it.\n\n"
    "A job must be resumed with the key, time, counts and sink that it was started with. Several jobs may "
    "use one filter; an event is then fresh in only one of them. everseen jobs lists and ends them.\n\n"
    "Options may also be given in the environment (EVERSEEN_FILTER) and in the table [stream] of the TOML "
    "file of --config. The command line takes precedence, then the environment.";

}  // namespace

verb stream_verb() {
  constexpr std::string_view scene = "everseen gen clicks --count 1000 --repeats 5% > clicks.jsonl";
  return {"stream",
          "Count each event of a stream once, even across crashes",
          stream_details,
          {{"Clicks by ten minutes and site, and in all",
            "everseen stream --from clicks.jsonl --filter clicks --key-json /id --time-json /time "
            "--count 10m:/time,/site --count ''",
            scene},
           {"Fresh clicks into a file, each once",
            "everseen stream --from clicks.jsonl --filter clicks --key-json /id --to fresh.jsonl", scene},
           {"What would be counted",
            "everseen stream --from clicks.jsonl --key-json /id --count /site --dry-run", scene},
           {"CSV, of which the first line names the fields",
            "everseen stream --from clicks.csv --filter clicks --csv --header --key id --count site",
            "printf 'id,site\\n1,news\\n2,shop\\n' > clicks.csv"}},
          declare_stream,
          is_configurable::yes};
}

}  // namespace everseen::cli
