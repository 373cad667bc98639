#include "everseen/stream/dedup.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "everseen/cli/dedup_stats.hpp"
#include "everseen/cli/options.hpp"
#include "everseen/cli/outage_watch.hpp"
#include "everseen/cli/printer.hpp"
#include "everseen/cli/progress.hpp"
#include "everseen/cli/signals.hpp"
#include "everseen/cli/stores.hpp"
#include "everseen/cli/verbs.hpp"
#include "everseen/core/sizing.hpp"
#include "everseen/everseen.hpp"

namespace everseen::cli {

namespace {

struct dedup_arguments {
  std::vector<std::string> files;
  std::optional<double> error_rate;
  std::optional<std::uint64_t> capacity;
  std::optional<hash_kind> hash;
  store_choice store;
  std::optional<std::string> filter_name;
  std::optional<std::uint64_t> key_field;
  std::optional<std::uint64_t> time_field;
  std::optional<char> delimiter;
  std::optional<std::string> key_json;
  std::optional<std::string> time_json;
  std::optional<dedup_options::missing> missing_key;
  std::optional<outage_watch::policy> on_outage;
  std::optional<std::chrono::milliseconds> window;
  std::optional<std::uint64_t> slices;
  std::optional<std::uint64_t> threads;
  std::optional<std::string> stats;  // "-" is standard error
  bool repeated = false;
  bool zero = false;
};

/// What a filter is made for when the size of the input is unknown. It grows from here; memory is touched as
/// it fills.
constexpr std::uint64_t capacity_of_a_stream = 4'000'000;
/// A small file may grow while it is read, or hold lines of very different lengths; this costs 250 KB.
constexpr std::uint64_t least_capacity = 65'536;
/// A filter that is kept is made for more than the first input, which may be small: each layer it grows by
/// costs every later key another look.
constexpr std::uint64_t least_capacity_of_a_kept_filter = 1'000'000;

char parse_delimiter(std::string_view what, std::string_view text) {
  if (text == "\\t" || text == "tab") return '\t';
  if (text.size() == 1) return text.front();
  throw parameter_error(
      fmt::format("{} '{}' is not one character of one byte; give one, as in ',', or tab", what, text));
}

std::optional<dedup_options::missing> parse_missing(std::string_view word) {
  if (word == "fail") return dedup_options::missing::fail;
  if (word == "pass") return dedup_options::missing::pass;
  if (word == "drop") return dedup_options::missing::drop;
  return std::nullopt;
}

std::optional<outage_watch::policy> parse_outage(std::string_view word) {
  if (word == "fail") return outage_watch::policy::fail;
  if (word == "pass") return outage_watch::policy::pass;
  if (word == "hold") return outage_watch::policy::hold;
  return std::nullopt;
}

std::optional<field_rule> rule_of(std::string_view what, std::optional<std::uint64_t> field,
                                  const std::optional<std::string>& pointer, char delimiter) {
  if (field && pointer)
    throw parameter_error(fmt::format("--{0}-field and --{0}-json exclude each other; give one", what));
  if (field) return field_rule{field_rule::kind::delimited, static_cast<unsigned>(*field), delimiter, {}};
  if (!pointer) return std::nullopt;
  if (!pointer->starts_with('/'))
    throw parameter_error(
        fmt::format("--{}-json {} is not a JSON pointer; it begins with /, as in /user/id", what, *pointer));
  return field_rule{field_rule::kind::json, 0, delimiter, *pointer};
}

/// What was asked for must be what the filter keeps.
void must_agree(const dedup_arguments& given, const filter& f) {
  const spec& s = f.get_spec();
  const auto differs = [&](std::string_view option, const auto& has) {
    throw parameter_error(
        fmt::format("{} does not fit the filter '{}', which was created with {}; leave it out, or use "
                    "another --filter",
                    option, f.name(), has));
  };
  if (given.error_rate && *given.error_rate != s.error_rate) differs("--error-rate", s.error_rate);
  if (given.capacity && *given.capacity != s.capacity) differs("--capacity", s.capacity);
  if (given.hash && *given.hash != s.hash) differs("--hash", to_string(s.hash));
  if (given.window && (!s.window || s.window->width != *given.window))
    differs("--window", s.window ? format_duration(s.window->width) : "none");
  if (given.slices && (!s.window || s.window->slices != *given.slices))
    differs("--slices", s.window ? std::to_string(s.window->slices) : "none");
}

spec_request request_of(const dedup_arguments& given, const block_reader& input) {
  spec_request request;
  request.error_rate = given.error_rate.value_or(request.error_rate);
  const std::uint64_t estimate = input.estimate_records().value_or(capacity_of_a_stream);
  const std::uint64_t least = given.filter_name ? least_capacity_of_a_kept_filter : least_capacity;
  request.capacity = given.capacity.value_or(std::max(estimate, least));
  request.hash = given.hash.value_or(request.hash);
  if (given.window) request.window = {*given.window, static_cast<std::uint32_t>(given.slices.value_or(10))};
  return request;
}

std::shared_ptr<store> store_of(const dedup_arguments& given) {
  const bool named = given.filter_name.has_value();
  if (given.store.url && *given.store.url != "mem:" && !named)
    throw parameter_error("--store keeps a filter by name; give --filter NAME, too");
  return named ? chosen_store(given.store) : open_store("mem:");
}

/// Opens the filter, or makes it once nothing can be wrong with the command line any more.
filter open_filter(const dedup_arguments& given, const dedup_options& options, const block_reader& input,
                   store& home) {
  const std::string name = given.filter_name.value_or("dedup");
  const auto must_use_times = [&](const auto& window) {
    if (options.time && !window)
      throw parameter_error("a time is used only by a filter with a window; give --window, too");
  };
  if (!given.filter_name || !home.exists(name)) {
    must_use_times(given.window);
    if (given.slices && !given.window) throw parameter_error("--slices divides a window; give --window, too");
  }
  filter f = open_or_create(home, name, request_of(given, input));
  must_agree(given, f);
  must_use_times(f.get_spec().window);
  return f;
}

dedup_options options_of(const dedup_arguments& given) {
  dedup_options options;
  options.separator = given.zero ? '\0' : '\n';
  const char delimiter = given.delimiter.value_or('\t');
  options.key = rule_of("key", given.key_field, given.key_json, delimiter).value_or(field_rule{});
  options.time = rule_of("time", given.time_field, given.time_json, delimiter);
  static_cast<void>(record_rule(options.key, options.time));  // refuses what can never match
  options.clock = [] {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  };
  options.without_key = given.missing_key.value_or(dedup_options::missing::fail);
  if (given.on_outage == outage_watch::policy::pass) options.on_outage = dedup_options::outage::pass;
  options.wanted = given.repeated ? verdict::seen : verdict::fresh;
  return options;
}

unsigned threads_for(const dedup_arguments& given, const filter& f, const store& home) {
  if (given.threads) return static_cast<unsigned>(*given.threads);
  const unsigned cores = std::thread::hardware_concurrency();
  const std::uint32_t partitions = f.get_spec().partitions;
  return home.is_remote() ? useful_remote_dedup_threads(cores, partitions)
                          : useful_dedup_threads(cores, partitions);
}

/// The counts of a run that failed are wanted most of all; but why it failed is told first.
void write_after_failure(const dedup_stats& stats, const dedup_result& result, const filter& f) {
  try {
    stats.write(result, f.info());
  } catch (const error&) {  // the complaint is about what failed before
  }
}

/// A store under a watch, for as long as this lives.
class watched_store {
 public:
  watched_store(stored_filter& watched, std::shared_ptr<patience> by) : watched_(watched) {
    watched_.wait_with(std::move(by));
  }
  ~watched_store() { watched_.wait_with(nullptr); }
  watched_store(const watched_store&) = delete;
  watched_store& operator=(const watched_store&) = delete;

 private:
  stored_filter& watched_;
};

/// @throws stopped  by a signal    @throws storage_error  nobody reads any more what is printed
void end_if_asked(const output& lines) {
  stop_if_signalled();
  lines.check_reader();
}

/// @throws  what fits the failure, with the place in the input
[[noreturn]] void report(batch_failure failure, const dedup_result& result) {
  if (result.first_unknown > 0)
    failure.message += fmt::format("; line {} is the first of {} without an answer, which were not printed",
                                   result.first_unknown, result.verdicts.unknown);
  failure.raise();
}

exit_code dedup(const dedup_arguments& given, printer& out) {
  note_signals();
  dedup_options options = options_of(given);
  const output reader(out.descriptor(), "standard output");
  block_reader input(given.files, options.separator, dedup_block_bytes);
  input.while_waiting([&] { end_if_asked(reader); });
  std::optional<dedup_stats> stats;
  if (given.stats) stats.emplace(*given.stats);  // a path that is wrong must not leave a new filter behind
  const auto home = store_of(given);
  filter seen = open_filter(given, options, input, *home);
  options.threads = threads_for(given, seen, *home);
  if (stats) stats->begin(seen.info());

  dedup_result result;
  try {
    progress_line progress(input.total_bytes(), seen.stored().way());
    const watched_store watched(seen.stored(), std::make_shared<outage_watch>(
                                                   given.on_outage.value_or(outage_watch::policy::fail),
                                                   [&](const std::string& text) { progress.say(text); },
                                                   [&] { return is_signalled() || reader.is_abandoned(); }));
    options.progress = [&](const dedup_result& now) {
      end_if_asked(reader);
      progress.show({now.records, now.bytes});
    };
    output lines(out.descriptor(), "standard output");
    deduplicate(input, seen, lines, options, result);
    if (result.failure) {
      end_if_asked(reader);  // then it is no failure of the store
      report(*result.failure, result);
    }
    if (result.verdicts.unknown > 0)
      progress.say(fmt::format("{} lines were printed though nothing is known of them: the store was away",
                               result.verdicts.unknown));
  } catch (...) {
    if (stats) write_after_failure(*stats, result, seen);
    throw;
  }
  if (stats) stats->write(result, seen.info());
  return exit_code::done;
}

void declare_key(CLI::App& app, dedup_arguments& given) {
  const count_bounds fields = {1, 10'000};
  add_count(app, "--key-field", given.key_field, fields,
            {"N", "the key is field N of the line, counted from 1"});
  add_option(app, "--delimiter", {"C", "what stands between fields: one character, or tab", "tab"},
             [&given](std::string_view what, std::string_view text) {
               given.delimiter = parse_delimiter(what, text);
             });
  add_text(app, "--key-json", given.key_json,
           {"POINTER", "each line is a JSON document; the key is the value at this pointer, as in /user/id"});
  add_choice(app, "--missing-key", given.missing_key,
             {"fail|pass|drop", "what to do with a line that has no key, or no readable time", "fail"},
             parse_missing);
  add_switch(app, "-z,--zero", given.zero, "lines end with a NUL byte instead of a newline");
}

void declare_filter(CLI::App& app, dedup_arguments& given) {
  add_rate(app, "--error-rate", given.error_rate, {sizing::min_error_rate, sizing::max_error_rate},
           {"RATE", "the share of new lines that may be dropped by mistake", "1e-6"});
  add_count(app, "--capacity", given.capacity, {1, max_capacity},
            {"N", "how many different keys to make room for; the filter grows beyond",
             "estimated from the size of the input; at least 1M with --filter"});
  add_choice(app, "--hash", given.hash,
             {"xxh3|siphash", "siphash where strangers choose the keys and may mean harm", "xxh3"},
             parse_hash_kind);
  add_text(app, "--filter", given.filter_name,
           {"NAME", "remember the keys in this filter, across runs; created if there is none"});
  add_store_option(app, given.store);
}

void declare_window(CLI::App& app, dedup_arguments& given) {
  add_duration(app, "--window", given.window, {"TIME", "forget keys after this time, as in 10m or 1h30m"});
  add_count(app, "--slices", given.slices, {1, max_slices},
            {"N", "forget in N steps: a key is remembered for the window and at most one step more", "10"});
  add_count(
      app, "--time-field", given.time_field, {1, 10'000},
      {"N", "the time of a line is its field N: seconds, milliseconds or RFC 3339", "the clock's time"});
  add_text(app, "--time-json", given.time_json,
           {"POINTER", "the time of a line is the value at this JSON pointer"});
}

action declare(CLI::App& app) {
  const auto given = std::make_shared<dedup_arguments>();
  add_arguments(app, given->files, {"FILE", "what to read; - or nothing for standard input"});
  declare_filter(app, *given);
  declare_key(app, *given);
  declare_window(app, *given);
  add_choice(
      app, "--on-outage", given->on_outage,
      {"fail|pass|hold",
       "when the store stays away: stop, print lines that nothing is known of, or wait for it", "fail"},
      parse_outage);
  add_switch(app, "--repeated", given->repeated, "print the repeats instead of the first occurrences");
  add_count(
      app, "--threads", given->threads, {1, 256},
      {"N", "threads to use", "one for each processor, at most 8; twice as many with servers, at least 8"});
  add_optional_text(app, "--stats", given->stats, "-",
                    {"FILE", "when done, write counts as JSON to this file, or to standard error"});
  return [given](printer& out) { return dedup(*given, out); };
}

constexpr std::string_view details =
    "Prints each line the first time it occurs, in the order of the input, in memory of a few bytes a line. "
    "A line that is printed is certainly the first of its kind; of the new lines at most the error rate is "
    "dropped by mistake, one in a million unless you say otherwise.\n\n"
    "Lines are compared byte by byte: a carriage return is part of its line, and a last line without a "
    "newline gets one. Keys may contain any bytes. With --filter the keys are remembered in a named filter, "
    "and lines printed by an earlier run are repeats.\n\n"
    "When something fails in the middle, all lines whose keys were added before have been printed, unless it "
    "is the output that failed or the program was killed. With --filter the lines that were lost then count "
    "as printed by the next run: start again from a copy of the filter (everseen export). The counts of "
    "--stats are written after a failure, too.";

}  // namespace

verb dedup_verb() {
  return {
      .name = "dedup",
      .purpose = "Print each line the first time it occurs",
      .details = details,
      .examples =
          {
              {"Drop repeated lines of a file", "everseen dedup words.txt > once.txt",
               "printf 'a\\nb\\na\\n' > words.txt"},
              {"As part of a pipeline, with one wrong drop in a billion",
               "cat words.txt | everseen dedup --error-rate 1e-9 | wc -l",
               "printf 'a\\nb\\na\\n' > words.txt"},
              {"By the third field of a CSV file, showing what is dropped",
               "everseen dedup --key-field 3 --delimiter , --repeated clicks.csv",
               "printf '1,x,u1\\n2,y,u1\\n' > clicks.csv"},
              {"Events as JSON, the same id within ten minutes only once",
               "everseen dedup --key-json /id --window 10m --time-json /time events.json",
               "everseen gen clicks --count 100 > events.json"},
              {"Remember across runs what was printed", "everseen dedup --filter urls todays-urls.txt",
               "printf 'a\\nb\\na\\n' > todays-urls.txt"},
              {"Counts as JSON on standard error", "everseen dedup --stats words.txt > /dev/null",
               "printf 'a\\nb\\na\\n' > words.txt"},
          },
      .declare = declare,
  };
}

}  // namespace everseen::cli
