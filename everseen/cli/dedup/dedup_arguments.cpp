#include "everseen/cli/dedup/dedup_arguments.hpp"

#include <fmt/format.h>

#include "everseen/cli/long_run/record_options.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/everseen.hpp"

namespace everseen::cli {

namespace {

std::optional<dedup_options::fate> parse_fate(std::string_view word) {
  if (word == "fail") return dedup_options::fate::fail;
  if (word == "pass") return dedup_options::fate::pass;
  if (word == "drop") return dedup_options::fate::drop;
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

void declare_key(option_set& known, dedup_arguments& given) {
  const count_bounds fields = {1, 10'000};
  add_count(known, "--key-field", given.key_field, fields,
            {"N", "the key is field N of the line, counted from 1"});
  add_option(known, "--delimiter", {"C", "what stands between fields: one character, or tab", "tab"},
             [&given](std::string_view what, std::string_view text) {
               given.delimiter = parse_delimiter(what, text);
             });
  add_text(known, "--key-json", given.key_json,
           {"POINTER", "each line is a JSON document; the key is the value at this pointer, as in /user/id"});
  add_choice(known, "--missing-key", given.missing_key,
             {"fail|pass|drop", "what to do with a line that has no key, or no readable time", "fail"},
             parse_fate);
  add_switch(known, "-z,--zero", given.zero, "lines end with a NUL byte instead of a newline");
}

void declare_filter(option_set& known, dedup_arguments& given) {
  add_rate(known, "--error-rate", given.error_rate, {sizing::min_error_rate, sizing::max_error_rate},
           {"RATE", "the share of new lines that may be dropped by mistake", "1e-6"});
  add_count(known, "--capacity", given.capacity, {1, max_capacity},
            {"N", "how many different keys to make room for; the filter grows beyond",
             "estimated from the size of the input; at least 1M with --filter"});
  add_choice(known, "--hash", given.hash,
             {"xxh3|siphash", "siphash where strangers choose the keys and may mean harm", "xxh3"},
             parse_own_hash);
  add_judge(known, given.judge, judge_by_default);
  add_text(known, "--filter", given.filter_name,
           {"NAME", "remember the keys in this filter, across runs; created if there is none"});
  add_switch(known, "--existing", given.existing, "the filter must be there: where it is gone, end with 4");
  add_store_option(known, given.store);
}

void declare_window(option_set& known, dedup_arguments& given) {
  add_duration(known, "--window", given.window, {"TIME", "forget keys after this time, as in 10m or 1h30m"});
  add_count(known, "--slices", given.slices, {1, max_slices},
            {"N", "forget in N steps: a key is remembered for the window and at most one step more", "10"});
  add_count(
      known, "--time-field", given.time_field, {1, 10'000},
      {"N", "the time of a line is its field N: seconds, milliseconds or RFC 3339", "the clock's time"});
  add_text(known, "--time-json", given.time_json,
           {"POINTER", "the time of a line is the value at this JSON pointer"});
  add_choice(known, "--late", given.late,
             {"pass|drop|fail", "what to do with a line that is older than the window", "drop"}, parse_fate);
  add_duration(known, "--max-ahead", given.max_ahead,
               {"TIME", "a time that is further ahead of the clock counts as no time: see --missing-key",
                "as long as the window"});
}

/// Refuses options that would have no effect: they are mistakes.
void must_have_effect(const dedup_arguments& given) {
  const bool fields = given.key_field || given.time_field;
  const bool times = given.time_field || given.time_json;
  if (given.delimiter && !fields)
    throw parameter_error("--delimiter stands between fields; give --key-field or --time-field, too");
  if (given.missing_key && !fields && !given.key_json && !given.time_json)
    throw parameter_error(
        "--missing-key is about lines without a key, and here the whole line is the key; give --key-field or "
        "--key-json, too");
  if (given.existing && !given.filter_name)
    throw parameter_error("--existing is about a filter that is kept; give --filter NAME, too");
  if (given.max_ahead && !times)
    throw parameter_error("--max-ahead is about times in the lines; give --time-field or --time-json, too");
}

}  // namespace

void declare_dedup_arguments(option_set& known, dedup_arguments& into) {
  add_arguments(known, into.files, {"FILE", "what to read; - or nothing for standard input"});
  declare_filter(known, into);
  declare_key(known, into);
  declare_window(known, into);
  add_choice(
      known, "--on-outage", into.on_outage,
      {"fail|pass|hold",
       "when the store stays away: stop, print lines that nothing is known of, or wait for it", "fail"},
      parse_outage);
  add_switch(known, "--repeated", into.repeated, "print the repeats instead of the first occurrences");
  add_count(
      known, "--threads", into.threads, {1, 256},
      {"N", "threads to use", "one for each processor, at most 8; twice as many with servers, at least 8"});
  add_optional_text(known, "--stats", into.stats, "-",
                    {"FILE", "when done, write counts as JSON to this file, or to standard error"});
}

dedup_options dedup_options_of(const dedup_arguments& given) {
  must_have_effect(given);
  dedup_options options;
  options.separator = given.zero ? '\0' : '\n';
  const char delimiter = given.delimiter.value_or('\t');
  options.key = rule_of("key", given.key_field, given.key_json, delimiter).value_or(field_rule{});
  options.time = rule_of("time", given.time_field, given.time_json, delimiter);
  static_cast<void>(record_rule(options.key, options.time));  // refuses rules that can never match
  options.clock = [] {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  };
  options.without_key = given.missing_key.value_or(dedup_options::fate::fail);
  options.late = given.late.value_or(dedup_options::fate::drop);
  options.max_ahead = given.max_ahead;
  if (given.on_outage == outage_watch::policy::pass) options.on_outage = dedup_options::outage::pass;
  options.wanted = given.repeated ? verdict::seen : verdict::fresh;
  return options;
}

}  // namespace everseen::cli
