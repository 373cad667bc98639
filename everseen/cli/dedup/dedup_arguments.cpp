#include "everseen/cli/dedup/dedup_arguments.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/record_options.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/everseen.hpp"

namespace everseen::cli {

namespace {

std::optional<dedup_options::fate> parse_fate(std::string_view word) {
  if (word == "fail") return dedup_options::fate::fail;
  if (word == "pass") return dedup_options::fate::pass;
  if (word == "drop") return dedup_options::fate::drop;
  return std::nullopt;
}

std::optional<crash_effect> parse_crash_effect(std::string_view word) {
  if (word == "repeat") return crash_effect::repeat;
  if (word == "lose") return crash_effect::lose;
  return std::nullopt;
}

void declare_records(option_set& known, dedup_arguments& given) {
  declare_key(known, given.records);
  declare_key_form(known, given.records);
  add_choice(known, "--missing-key", given.missing_key,
             {"fail|pass|drop", "what to do with a line that has no key, or no readable time", "fail"},
             parse_fate);
  add_null(known, given.records.zero, "lines");
}

void declare_filter(option_set& known, dedup_arguments& given) {
  add_filter_options(known, given,
                     {.error_rate = "the share of new lines that may be dropped by mistake",
                      .capacity = "how many different keys to make room for; the filter grows beyond",
                      .usual_capacity = "estimated from the size of the input; at least 1M with --filter",
                      .usual_hash = "xxh3, through everseen:// siphash"});
  add_name(known, "--filter", given.filter_name,
           {"NAME", "remember the keys in this filter, across runs; created if there is none"});
  add_switch(known, "--existing", given.existing, "the filter must exist; if it does not, exit with 4");
  add_store_options(known, given.store, access::write);
  add_choice(
      known, "--on-crash", given.on_crash,
      {"repeat|lose",
       "with --filter: what a crash may do to a block of lines. repeat: lines are written first, and then "
       "their keys are kept; lose: the other way round",
       "repeat; lose with servers, where another run may have the same line"},
      parse_crash_effect);
  add_switch(known, "--judge-ahead", given.judge_ahead,
             "with --filter: judge lines before earlier ones are printed. Faster with servers; but if the "
             "run crashes, or its reader exits, more unprinted lines count as repeats");
}

void declare_window(option_set& known, dedup_arguments& given) {
  add_window_options(known, given);
  declare_time(known, given.records);
  add_choice(known, "--late", given.late,
             {"pass|drop|fail", "what to do with a line that is older than the window", "drop"}, parse_fate);
  add_duration(known, "--max-ahead", given.max_ahead,
               {"TIME", "a time that is further ahead of the clock counts as no time: see --missing-key",
                "a slice of the window, at least 1m"});
}

/// A filter cannot count: it does not know how often a key was there, nor which line was its first.
void must_not_be_of_a_filter(const dedup_arguments& given) {
  const std::array<std::pair<bool, std::string_view>, 18> about_filters = {
      {{given.filter_name.has_value(), "--filter"},
       {given.error_rate.has_value(), "--error-rate"},
       {given.capacity.has_value(), "--capacity"},
       {given.hash.has_value(), "--hash"},
       {given.judge.has_value(), "--judge"},
       {given.store.url.has_value(), "--store"},
       {given.store.timeout.has_value(), "--timeout"},
       {given.store.waits, "--wait"},
       {given.window.has_value(), "--window"},
       {given.slices.has_value(), "--slices"},
       {given.records.time.has_value(), "--time"},
       {given.records.time_format.has_value(), "--time-format"},
       {given.records.time_zone.has_value(), "--time-zone"},
       {given.max_ahead.has_value(), "--max-ahead"},
       {given.late.has_value(), "--late"},
       {given.on_outage.has_value(), "--on-outage"},
       {given.on_crash.has_value(), "--on-crash"},
       {given.threads.has_value(), "--threads"}}};
  for (const auto& [is_given, option] : about_filters)
    if (is_given)
      throw parameter_error(fmt::format(
          "{} keeps the lines themselves, as a filter cannot count; leave out {}, which is about filters",
          *counts_exactly(given), option));
}

/// Without a name, the filter is in memory and ends with the run.
void must_not_be_of_a_kept_filter(const dedup_arguments& given) {
  const std::array<std::pair<bool, std::string_view>, 6> about_kept_ones = {
      {{given.judge_ahead, "--judge-ahead"},
       {given.on_crash.has_value(), "--on-crash"},
       {given.existing, "--existing"},
       {given.on_outage.has_value(), "--on-outage"},
       {given.store.waits, "--wait"},
       {given.store.timeout.has_value(), "--timeout"}}};
  for (const auto& [is_given, option] : about_kept_ones)
    if (is_given)
      throw parameter_error(
          fmt::format("{} is about a filter that is kept; give --filter NAME, too", option));
  if (given.judge)
    throw parameter_error(
        "--judge is about a filter on servers; give --filter NAME and --store redis://HOST, too");
}

/// Whether an input is the output file; standard input may be.
bool is_output(const std::string& input, const dedup_arguments& given) {
  std::error_code no_such_file;
  return std::filesystem::equivalent(input == "-" ? "/dev/stdin" : input, *given.output, no_such_file) &&
         std::filesystem::is_regular_file(*given.output, no_such_file);
}

/// A run that ends early leaves its lines to the next one, which goes on: each line is in the file once.
void must_be_continuable(const dedup_arguments& given) {
  using fate = dedup_options::fate;
  const auto refuse = [](std::string_view option) {
    throw parameter_error(
        fmt::format("with --filter and --output, the next run continues one that ended early, "
                    "{}",
                    option));
  };
  if (given.repeated)
    refuse("but finds other repeats; leave out --repeated, or redirect the output, as in > FILE");
  if (given.judge_ahead || given.on_crash == crash_effect::lose)
    refuse("and loses no line; leave out --judge-ahead and --on-crash lose");
  if (given.missing_key == fate::pass)
    refuse(
        "but cannot know lines without a key again; use --missing-key drop, or redirect the output, as in > "
        "FILE");
  if (given.late == fate::pass)
    refuse("but cannot know late lines again; leave out --late pass, or redirect the output, as in > FILE");
  std::vector<std::string> inputs = given.files;
  if (inputs.empty()) inputs.emplace_back("-");
  for (const std::string& input : inputs)
    if (is_output(input, given))
      throw parameter_error(
          fmt::format("{} is read and written, and the filter is kept: the next run would find only repeats "
                      "in it, and empty "
                      "it; give another --output, or leave out --filter",
                      *given.output));
}

}  // namespace

std::optional<std::string_view> counts_exactly(const dedup_arguments& given) {
  if (given.count) return "--count";
  if (given.duplicates) return "--duplicates";
  if (given.unrepeated) return "--unrepeated";
  if (given.keep == counted_records::occurrence::last) return "--keep last";
  return {};
}

/// Half of the memory of this machine, unless it is said.
counted_records counted_of(const dedup_arguments& given) {
  using keys = counted_records::keys;
  counted_records all;
  if (given.duplicates || given.repeated) all.wanted = keys::repeated;
  if (given.unrepeated) all.wanted = keys::unrepeated;
  all.kept = given.keep.value_or(all.kept);
  all.with_counts = given.count;
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0)
    all.max_bytes = static_cast<std::uint64_t>(pages) / 2 * static_cast<std::uint64_t>(page);
  all.max_bytes = given.max_memory.value_or(all.max_bytes);
  return all;
}

void must_have_effect(const dedup_arguments& given) {
  must_have_effect(given.records, false);
  // A kept filter may be another system's, which does not take every key.
  if (given.missing_key && given.records.key.empty() && !given.records.csv && !given.records.time &&
      !given.filter_name)
    throw parameter_error(
        "--missing-key is about lines without a key, and here the whole line is the key; give --key, too");
  if (given.output && given.filter_name) must_be_continuable(given);
  if (counts_exactly(given)) must_not_be_of_a_filter(given);
  if (given.duplicates && given.unrepeated)
    throw parameter_error("no line occurs both once and more than once; leave out -d or -u");
  const bool prints_one_of_each = given.duplicates || given.unrepeated || !given.count;
  if (given.repeated && prints_one_of_each && counts_exactly(given))
    throw parameter_error("--repeated prints all repeats; leave it out, or print one of each by -d");
  if (given.max_memory && !counts_exactly(given))
    throw parameter_error(
        "--max-memory is about lines that are kept; a filter's size follows from --capacity");
  if (!given.filter_name) must_not_be_of_a_kept_filter(given);
  if (given.judge_ahead && given.on_crash == crash_effect::repeat)
    throw parameter_error(
        "with --judge-ahead, keys are kept before their lines are printed, so a crash loses lines; leave out "
        "one of --judge-ahead and --on-crash repeat");
  if (given.quiet && given.verbose)
    throw parameter_error("--quiet prints no counts at the end, and --verbose does; leave out one of them");
  if (given.max_ahead && !given.records.time)
    throw parameter_error("--max-ahead is about times in the lines; give --time, too");
}

void declare_dedup_arguments(option_set& known, dedup_arguments& into) {
  add_arguments(known, into.files, {"FILE", "what to read; - or nothing for standard input"});
  declare_filter(known, into);
  declare_records(known, into);
  declare_window(known, into);
  add_choice(
      known, "--on-outage", into.on_outage,
      {"fail|pass|hold", "if the store is unavailable: stop, print lines without a verdict, or wait", "fail"},
      parse_outage);
  add_output(known, into.output,
             "write to this file once all went well; it may be one that is read. With a filter in files, "
             "a run continues one that ended early: no line is lost or repeated");
  add_switch(known, "--repeated", into.repeated,
             "print the repeats instead of the first occurrences; with --count, the lines that have any");
  add_switch(known, "-c,--count", into.count,
             "print how often each line occurs before it, as uniq -c does, when the input has ended; keeps "
             "each different line in memory, with about 60 bytes more");
  add_switch(
      known, "-d,--duplicates", into.duplicates,
      "print one of each line that occurs more than once, when the input has ended; memory as with --count");
  add_switch(known, "-u,--unrepeated", into.unrepeated,
             "print the lines that occur once, when the input has ended; memory as with --count");
  add_choice(
      known, "--keep", into.keep,
      {"first|last",
       "which of the lines with one key to print; last: when the input has ended, with memory as for --count",
       "first"},
      [](std::string_view word) -> std::optional<counted_records::occurrence> {
        if (word == "first") return counted_records::occurrence::first;
        if (word == "last") return counted_records::occurrence::last;
        return {};
      });
  add_count(known, "--max-memory", into.max_memory, {1 << 20, std::numeric_limits<std::uint64_t>::max()},
            {"BYTES", "stop if the lines that are kept need more, as in 4Gi", "half of the machine's"});
  add_switch(known, "-q,--quiet", into.quiet, "print no notes and no progress on standard error");
  add_switch(known, "-v,--verbose", into.verbose,
             "print the counts on standard error at the end, as at a terminal");
  add_count(known, "--threads", into.threads, {1, 256},
            {"COUNT", "threads to use",
             "one for each processor, at most 8; twice as many with servers, at least 8"});
  add_optional_text(known, "--stats", into.stats, "-",
                    {"FILE", "when done, write counts as JSON to this file, or to standard error"});
}

dedup_options dedup_options_of(const dedup_arguments& given, const std::optional<std::string>& header) {
  dedup_options options;
  options.format = given.records.format();
  event_shape shape = shape_of(given.records, header);
  options.key = std::move(shape.key);
  options.form = shape.form;
  options.time = std::move(shape.time);
  options.times = std::move(shape.times);
  options.clock = [] {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  };
  options.without_key = given.missing_key.value_or(dedup_options::fate::fail);
  options.no_record = given.missing_key.value_or(dedup_options::fate::drop);
  options.may_pass_keyless = !given.output || !given.filter_name;
  options.header = header;
  options.late = given.late.value_or(dedup_options::fate::drop);
  options.max_ahead = given.max_ahead;
  if (given.on_outage == outage_watch::policy::pass) options.on_outage = dedup_options::outage::pass;
  options.wanted = given.repeated ? verdict::seen : verdict::fresh;
  return options;
}

}  // namespace everseen::cli
