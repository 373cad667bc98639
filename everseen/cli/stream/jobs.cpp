#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "everseen/cli/stream/job_description.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/spec/time_text.hpp"
#include "everseen/jobs/job_marks.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

struct jobs_arguments {
  store_choice store;
  std::string name;
  std::optional<std::string> end;
  bool json = false;
  bool yes = false;
};

/// A filter's record of a job, by kind.
struct known_job {
  std::string name, description;
  std::vector<checkpoint> lanes;
  std::vector<checkpoint> sinks;
  std::optional<event_time> settled;
  job_size size;
};

/// @param f  opened for reading; if it were open for writing, this would begin a job
known_job look_at(const filter& f, const std::string& name) {
  const auto book = f.stored().open_ledger(name, "");
  known_job job{name, book->description(), {}, {}, {}, book->size()};
  for (const auto& [source, position] : book->checkpoints()) {
    if (source == job_marks::last_settled)
      job.settled = event_time(std::chrono::milliseconds(position.position));
    else
      (job_marks::is_of_a_sink(source) ? job.sinks : job.lanes).push_back(position);
  }
  return job;
}

/// As in "> web-1:/data/fresh", without the leading sign.
std::string sink_text(const checkpoint& sink) {
  const std::string text = sink.source.substr(2);
  return text.starts_with(':') ? text.substr(1) : text;
}

std::string size_text(const job_size& size) {
  std::string text;
  if (size.counters > 0) text = format_count(size.counters) + " counters, ";
  return text + (size.bytes ? format_bytes(static_cast<double>(*size.bytes))
                            : "of a size that the server does not report");
}

std::string age_of(event_time then) {
  const auto current = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(current - then);
  return seconds.count() < 1 ? "just now" : format_duration(seconds) + " ago";
}

void print_text(const known_job& job, printer& out) {
  out.print("{}\n", shown_name(job.name));
  out.print("  begun with    {}\n", shown_job(job.description));
  for (const checkpoint& sink : job.sinks) out.print("  puts out to   {}\n", sink_text(sink));
  for (const checkpoint& lane : job.lanes)
    out.print("  has settled   {} up to {}\n", lane.source, format_count(lane.position));
  if (job.settled)
    out.print("  last settled  {} ({})\n", format_event_time(*job.settled), age_of(*job.settled));
  out.print("  keeps         {}\n", size_text(job.size));
}

nlohmann::ordered_json job_json(const known_job& job) {
  nlohmann::ordered_json json = {{"name", shown_name(job.name)}, {"begun_with", shown_job(job.description)}};
  json["lanes"] = nlohmann::ordered_json::array();
  for (const checkpoint& lane : job.lanes)
    json["lanes"].push_back({{"source", lane.source}, {"position", lane.position}});
  json["sinks"] = nlohmann::ordered_json::array();
  for (const checkpoint& sink : job.sinks) json["sinks"].push_back(sink_text(sink));
  json["last_settled"] = nullptr;
  if (job.settled) json["last_settled"] = format_event_time(*job.settled);
  json["counters"] = job.size.counters;
  json["bytes"] = nullptr;
  if (job.size.bytes) json["bytes"] = *job.size.bytes;
  return json;
}

exit_code list(const jobs_arguments& o, printer& out) {
  const auto place = chosen_store(o.store);
  const filter f = open(*place, o.name, access::read);
  auto all = nlohmann::ordered_json::array();
  for (const std::string& name : place->jobs(o.name)) {
    const known_job job = look_at(f, name);
    if (o.json)
      all.push_back(job_json(job));
    else
      print_text(job, out);
  }
  // A job's own text need not be UTF-8.
  if (o.json) out.print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  return exit_code::done;
}

/// @throws parameter_error  there is no such job; names the existing ones
void must_be_there(const jobs_arguments& o, const std::vector<std::string>& jobs, const std::string& job) {
  if (std::ranges::find(jobs, job) != jobs.end()) return;
  throw parameter_error(
      fmt::format("the filter {} has no job {}; {}", quoted_name(o.name), quoted_name(job), jobs_text(jobs)));
}

/// Shows the job that is to be ended, or what is wrong with it.    @return what would be lost of its sources
std::string show(const jobs_arguments& o, printer& out) try {
  const auto place = chosen_store(o.store);
  const filter f = open(*place, o.name, access::read);
  must_be_there(o, place->jobs(o.name), *o.end);
  const known_job job = look_at(f, *o.end);
  print_text(job, out);
  out.flush();
  return job.lanes.size() == 1 ? "its source" : fmt::format("{} sources", job.lanes.size());
} catch (const format_error& e) {
  fmt::print(stderr, "everseen: warning: {}\n", e.what());
  return "its sources";
}

exit_code end(const jobs_arguments& o, printer& out) {
  if (o.json) throw parameter_error("--json is for the list of jobs; leave it out, or --end");
  const std::string sources = show(o, out);
  const std::string question = fmt::format(
      "End the job {}? Its counts and its place in {} are lost; the keys that it added to {} stay. Stop its "
      "workers first.",
      quoted_name(*o.end), sources, quoted_name(o.name));
  if (!o.yes && !confirmed(question)) return exit_code::negative;
  chosen_store(o.store)->end_job(o.name, *o.end);
  out.print(
      "ended; to count the same events again, also empty the filter: everseen reset {}, and read a topic or "
      "a stream as another group (group=NAME)\n",
      name_argument(o.name));
  return exit_code::done;
}

}  // namespace

verb jobs_verb() {
  constexpr std::string_view scene =
      "everseen gen clicks --count 1000 > clicks.jsonl; everseen stream --from clicks.jsonl --filter clicks "
      "--key-json /id --to fresh.jsonl";
  return {"jobs",
          "List the streaming jobs of a filter, and end them",
          "Shows for each job its settings, its position in each source, its sink, the time of its last "
          "settlement, and the data it keeps. A position is a byte offset in a file, or an offset in a Kafka "
          "partition.\n\n--end removes a job and its counts; at a terminal it asks for confirmation. The "
          "keys that the job added stay in the filter: its events are repeats for every other job. A filter "
          "without jobs may be reset and rebuilt. Workers that are still running end with an error.",
          {{"All jobs", "everseen jobs clicks", scene},
           {"Start over from the beginning",
            "everseen jobs clicks --end stream --yes; everseen reset clicks --yes", scene}},
          [](option_set& known) -> action {
            auto o = std::make_shared<jobs_arguments>();
            add_name(known, o->name, {"NAME", "the filter"});
            add_name(known, "--end", o->end, {"JOB", "end this job: remove its positions and its counts"});
            add_yes(known, o->yes);
            add_json(known, o->json);
            add_store_options(known, o->store, access::write);
            return [o](printer& out) { return o->end ? end(*o, out) : list(*o, out); };
          }};
}

}  // namespace everseen::cli
