#include "everseen/cli/stream/jobs.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

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

// The description of a job is stored with its ledger, where later versions of the program read it: a name in
// the JSON never changes its meaning, and what an option adds appears only if the option is given. Messages
// about a job are made from this text and not from the options of today, since the job may have been begun
// with others.

namespace everseen::cli {

namespace {

/// A delimiter as it is stored: one plain byte as it is; another text between apostrophes, with \xHH for
/// bytes that are not plain.
std::string stored(std::string_view delimiter) {
  const auto is_plain = [](char c) {
    return c > ' ' && c <= '~' && c != '\'' && c != '\\' && (c < '0' || c > '9');
  };
  if (delimiter == "\t" || (delimiter.size() == 1 && is_plain(delimiter.front())))
    return std::string(delimiter);
  std::string text = "'";
  for (const char c : delimiter) {
    const bool is_shown = c >= ' ' && c <= '~' && c != '\'' && c != '\\';
    text += is_shown ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text + '\'';
}

std::string to_text(const field_rule& field) {
  if (field.form == field_rule::kind::json) return field.pointer;
  return fmt::format("{}{}{}", field.number, field.quoted ? "\"" : "", stored(field.delimiter.text()));
}

using json_text = nlohmann::ordered_json;

/// A field from to_text(): a pointer; or a number, a quotation mark if it is one of CSV, and the delimiter,
/// between apostrophes if it has several bytes.
std::string shown_field(const std::string& text) {
  if (text.starts_with('/') || text.empty()) return text;
  return text.substr(0, text.find_first_not_of("0123456789"));
}

/// What follows the number of a field.
std::string_view behind_number(std::string_view field) {
  return field.substr(std::min(field.find_first_not_of("0123456789"), field.size()));
}

bool is_of_csv(std::string_view field) {
  const std::string_view rest = behind_number(field);
  return rest.size() >= 2 && rest.front() == '"';
}

/// As a shell takes it.
std::string shown_delimiter_of(std::string_view field) {
  std::string_view text = behind_number(field);
  if (is_of_csv(field)) text.remove_prefix(1);
  if (text == "\t") return "--delimiter tab";
  if (text.size() > 1) return fmt::format("--delimiter {}{}", text.find('\\') == text.npos ? "" : "$", text);
  return fmt::format("--delimiter '{}'", text);
}

std::string shown_dimension(const json_text& d) {
  const std::string name = d.at("name").get<std::string>();
  const std::string field = shown_field(d.at("field").get<std::string>());
  std::string text = field.substr(field.rfind('/') + 1) == name ? "" : name + '=';
  if (d.contains("ms"))
    text += format_duration(std::chrono::milliseconds(d.at("ms").get<std::int64_t>())) + ':';
  return text + field;
}

std::string shown_set(const json_text& set) {
  std::vector<std::string> all;
  for (const auto& d : set) all.push_back(shown_dimension(d));
  return all.empty() ? "''" : fmt::format("{}", fmt::join(all, ","));
}

std::string option_for(std::string_view kind, const std::string& field) {
  return fmt::format("--{} {}", kind, shown_field(field));
}

/// The options that define a job, in groups for comparison.
struct shown_options {
  std::string key, delimiter, time, counts;
};

shown_options options_in(const std::string& description) {
  const auto text = json_text::parse(description);
  shown_options all;
  std::vector<std::string> key, times, counts;
  // It is stored with each field, and was given once for all.
  const auto note_delimiter = [&](const std::string& field) {
    if (!field.empty() && !field.starts_with('/'))
      all.delimiter = (is_of_csv(field) ? "--csv " : "") + shown_delimiter_of(field);
  };
  for (const auto& field : text.at("key")) {
    key.push_back(option_for("key", field.get<std::string>()));
    note_delimiter(field.get<std::string>());
  }
  if (text.contains("key_kafka")) key.push_back("--key-kafka " + text["key_kafka"].get<std::string>());
  if (!text.at("time").is_null()) {
    times.push_back(option_for("time", text.at("time").get<std::string>()));
    note_delimiter(text.at("time").get<std::string>());
  }
  if (text.contains("time_format"))
    times.push_back(fmt::format("--time-format '{}'", text["time_format"].get<std::string>()));
  if (text.contains("time_zone")) times.push_back("--time-zone " + text["time_zone"].get<std::string>());
  for (const auto& set : text.at("counts")) {
    counts.push_back("--count " + shown_set(set));
    for (const auto& d : set) note_delimiter(d.at("field").get<std::string>());
  }
  all.key = key.empty() ? "the whole record as the key" : fmt::format("{}", fmt::join(key, " "));
  all.time = times.empty() ? "no --time" : fmt::format("{}", fmt::join(times, " "));
  if (all.delimiter.empty()) all.delimiter = "no --delimiter";
  all.counts = counts.empty() ? "no --count" : fmt::format("{}", fmt::join(counts, " "));
  return all;
}

}  // namespace

std::string describe_job(const event_shape& shape) {
  nlohmann::ordered_json text;
  text["key"] = nlohmann::json::array();
  for (const field_rule& field : shape.key) text["key"].push_back(to_text(field));
  if (shape.beside)
    text["key_kafka"] = shape.beside->header.empty() ? "key" : "header:" + shape.beside->header;
  text["time"] = shape.time ? nlohmann::ordered_json(to_text(*shape.time)) : nlohmann::ordered_json();
  if (!shape.times.format().empty()) text["time_format"] = shape.times.format();
  if (shape.times.zone()) text["time_zone"] = shape.times.zone()->name();
  text["counts"] = nlohmann::json::array();
  for (const dimension_set& set : shape.counts) {
    auto& written = text["counts"].emplace_back(nlohmann::json::array());
    for (const dimension& d : set) {
      auto& one = written.emplace_back(nlohmann::ordered_json{{"name", d.name}, {"field", to_text(d.field)}});
      if (d.truncation) one["ms"] = d.truncation->count();
    }
  }
  text["word"] = fmt::format("{:08x}{:08x}", std::random_device()(), std::random_device()());
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string word_in(const std::string& description) {
  const auto text = json_text::parse(description, nullptr, false);
  if (!text.is_object() || !text.contains("word") || !text["word"].is_string()) return {};
  return text["word"].get<std::string>();
}

bool are_alike(const std::string& one, const std::string& other) {
  auto a = json_text::parse(one, nullptr, false), b = json_text::parse(other, nullptr, false);
  if (!a.is_object() || !b.is_object()) return one == other;
  a.erase("word");
  b.erase("word");
  return a == b;
}

std::string shown_job(const std::string& description) {
  try {
    const shown_options all = options_in(description);
    std::vector<std::string> shown = {all.key};
    for (const std::string* each : {&all.delimiter, &all.time, &all.counts})
      if (!each->starts_with("no --")) shown.push_back(*each);
    return fmt::format("{}", fmt::join(shown, " "));
  } catch (const nlohmann::json::exception&) {
    return description;  // of another program
  }
}

std::string differences(const std::string& before, const std::string& current) {
  try {
    const shown_options was = options_in(before), is = options_in(current);
    std::vector<std::string> all;
    for (const auto part :
         {&shown_options::key, &shown_options::delimiter, &shown_options::time, &shown_options::counts})
      if (was.*part != is.*part) all.push_back(fmt::format("{} (now: {})", was.*part, is.*part));
    return fmt::format("{}", fmt::join(all, ", and "));
  } catch (const nlohmann::json::exception&) {
    return fmt::format("{} (now: {})", before, current);
  }
}

std::vector<std::vector<std::string>> described_sets(std::string_view description) {
  try {
    std::vector<std::vector<std::string>> sets;
    const auto text = nlohmann::json::parse(description);
    for (const auto& set : text.at("counts")) {
      auto& names = sets.emplace_back();
      for (const auto& d : set) names.push_back(d.at("name").get<std::string>());
    }
    return sets;
  } catch (const nlohmann::json::exception&) {
    throw format_error(
        "the description of the job was not written by everseen stream; its counts cannot be told apart");
  }
}

std::string jobs_text(const std::vector<std::string>& jobs) {
  std::string names;
  for (const std::string& job : jobs) names += (names.empty() ? "" : ", ") + shown_name(job);
  return "it has " + (names.empty() ? "none" : names);
}

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
  const auto ledger = f.stored().open_ledger(name, "");
  known_job job{name, ledger->description(), {}, {}, {}, ledger->size()};
  for (const auto& [lane, position] : ledger->checkpoints()) {
    if (lane == job_marks::last_settled)
      job.settled = event_time(std::chrono::milliseconds(position.position));
    else
      (job_marks::is_of_a_sink(lane) ? job.sinks : job.lanes).push_back(position);
  }
  return job;
}

/// As in "> web-1:/data/fresh", without the leading sign.
std::string sink_text(const checkpoint& sink) {
  const std::string text = sink.lane.substr(2);
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
  for (const checkpoint& reached : job.lanes)
    out.print("  has settled   {} up to {}\n", reached.lane, format_count(reached.position));
  if (job.settled)
    out.print("  last settled  {} ({})\n", format_event_time(*job.settled), age_of(*job.settled));
  out.print("  keeps         {}\n", size_text(job.size));
}

nlohmann::ordered_json job_json(const known_job& job) {
  nlohmann::ordered_json json = {{"name", shown_name(job.name)}, {"begun_with", shown_job(job.description)}};
  json["lanes"] = nlohmann::ordered_json::array();
  for (const checkpoint& reached : job.lanes)
    json["lanes"].push_back({{"source", reached.lane}, {"position", reached.position}});
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
