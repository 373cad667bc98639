#include <memory>
#include <utility>

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
  event_shape events = shape_of(given, from.header);
  static_cast<void>(event_rule(events));
  stream_run run(given, std::move(from), std::move(events));
  run(out);
  return exit_code::done;
}

action declare(option_set& known) {
  const auto given = std::make_shared<stream_arguments>();
  declare_stream_arguments(known, *given);
  return [given](printer& out) { return stream(*given, out); };
}

constexpr std::string_view details =
    "Reads events, asks a filter which are fresh, and counts or puts out each of them once, also when this "
    "program, the server or the machine dies in between: the filter keeps, beside its bits, which events of "
    "which source it has judged and how, so that a run that goes on after a crash gets the same answers. "
    "doc/streams.md says for each source and sink what is guaranteed.\n\n"
    "With --count, each fresh event raises one counter for every set of dimensions, in the same step that "
    "adds "
    "its key; everseen counts prints them. Counters need a Redis store. A dimension is a field, with a name "
    "before it if it is to have another one (country=/geo/cc), and with a length of time before it if it is "
    "a "
    "time (minute:/time, 10m:/time, hour:3, day:3).\n\n"
    "A file is read on from where the job was. Standard input is to be given again from its beginning; what "
    "was settled is skipped. A file to write to gets what is settled, so that nothing is in it "
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
    "A job is what it was begun with: the same key, time, counts and sink must be given when it goes on. "
    "Several "
    "jobs may use one filter; an event is then fresh in one of them. everseen jobs lists and ends them.\n\n"
    "Options may also stand in the environment (EVERSEEN_FILTER) and, under [stream], in the TOML file of "
    "--config; what is typed counts first, then the environment.";

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
            "everseen stream --from clicks.jsonl --key-json /id --count /site --dry-run", scene},
           {"CSV, of which the first line names the fields",
            "everseen stream --from clicks.csv --filter clicks --csv --header --key id --count site",
            "printf 'id,site\\n1,news\\n2,shop\\n' > clicks.csv"}},
          declare,
          is_configurable::yes};
}

}  // namespace everseen::cli
