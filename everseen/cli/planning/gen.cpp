#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "everseen/cli/planning/samples.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/dedup/time/event_time.hpp"

// A line is a function of the seed and its number alone (samples.hpp), so a sample of any length is made
// without memory of what was made. Lines are written into the buffer of the output itself.

namespace everseen::cli {

namespace {

constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();

struct gen_arguments {
  std::string kind;
  std::optional<std::uint64_t> count, seed, reach, rate, users;
  std::optional<double> repeats, late;
  std::optional<std::chrono::milliseconds> disorder, late_by;
  std::optional<event_time> start;
  std::optional<click_options::format> format;
  std::optional<click_options::time_format> time;
  std::uint64_t first_id = 1, ids = 10'000'000'000;
};

template <typename Sample>
void print_sample(const gen_arguments& o, std::uint64_t default_reach, const Sample& sample, printer& out) {
  const repeats order(o.seed.value_or(1), o.repeats.value_or(0), o.reach.value_or(default_reach));
  for (std::uint64_t place = 0; place < *o.count; ++place) {
    char* end = sample.write(order.record_at(place), out.room(Sample::max_chars + 1));
    *end++ = '\n';
    out.wrote(end);
  }
}

void print_clicks(const gen_arguments& o, printer& out) {
  click_options clicks;
  clicks.lines = o.format.value_or(click_options::format::json);
  clicks.times = o.time.value_or(click_options::time_format::rfc3339);
  clicks.start = o.start.value_or(*parse_event_time("2025-01-01T00:00:00Z"));
  clicks.events_a_second = o.rate.value_or(1000);
  clicks.disorder = o.disorder.value_or(std::chrono::milliseconds(0));
  clicks.late = o.late.value_or(0);
  clicks.late_by = o.late_by.value_or(std::chrono::hours(1));
  clicks.users = o.users.value_or(1'000'000);
  if (clicks.lines == click_options::format::csv) out.write("id,time,site,country,user\n");
  print_sample(o, 1000, sample_clicks(o.seed.value_or(1), clicks), out);
}

exit_code run_gen(const gen_arguments& o, printer& out) {
  if (constexpr std::string_view kinds[] = {"words", "clicks", "ids"};
      std::ranges::find(kinds, o.kind) == std::end(kinds))
    refuse_choice("gen", o.kind, "words|clicks|ids");
  if (!o.count) throw parameter_error("gen needs --count; say how many lines, as in --count 1M");
  const std::uint64_t seed = o.seed.value_or(1);
  if (o.kind == "words")
    print_sample(o, 0, sample_words(seed), out);
  else if (o.kind == "ids")
    print_sample(o, 0, sample_ids(seed, o.first_id, o.ids), out);
  else
    print_clicks(o, out);
  return exit_code::done;
}

std::optional<click_options::format> parse_click_format(std::string_view word) {
  if (word == "json") return click_options::format::json;
  if (word == "csv") return click_options::format::csv;
  return std::nullopt;
}

std::optional<click_options::time_format> parse_time_format(std::string_view word) {
  if (word == "rfc3339") return click_options::time_format::rfc3339;
  if (word == "ms") return click_options::time_format::milliseconds;
  return std::nullopt;
}

void declare_clicks(option_set& known, gen_arguments& o) {
  add_choice(known, "--format", o.format, {"json|csv", "clicks: how a line looks", "json"},
             parse_click_format);
  add_choice(known, "--time-format", o.time, {"rfc3339|ms", "clicks: how a time looks", "rfc3339"},
             parse_time_format);
  add_time(known, "--start", o.start,
           {"TIMESTAMP", "clicks: time of the first event", "2025-01-01T00:00:00Z"});
  add_count(known, "--rate", o.rate, {1, 1'000'000'000}, {"COUNT", "clicks: events in a second", "1000"});
  add_duration(known, "--disorder", o.disorder, {"TIME", "clicks: how far times are out of order", "0s"});
  add_rate(known, "--late", o.late, {0, 1}, {"SHARE", "clicks: share of events that come late", "0"});
  add_duration(known, "--late-by", o.late_by, {"TIME", "clicks: how late they come at most", "1h"});
  add_count(known, "--users", o.users, {1, any}, {"COUNT", "clicks: how many users there are", "1M"});
}

action declare_gen(option_set& known) {
  auto o = std::make_shared<gen_arguments>();
  add_argument(known, o->kind, {"words|clicks|ids", "what to make"});
  add_count(known, "--count", o->count, {0, any}, {"COUNT", "how many lines"});
  add_count(known, "--seed", o->seed, {0, any}, {"NUMBER", "another seed gives another sample", "1"});
  add_rate(known, "--repeats", o->repeats, {0, 1},
           {"SHARE", "share of lines that repeat an earlier line on purpose", "0"});
  add_count(known, "--reach", o->reach, {1, any},
            {"COUNT", "how many lines back a repeated line may be", "1000 for clicks, else all"});
  add_option(known, "--range", {"FROM..TO", "ids: the numbers to draw from, both included", "1..10G"},
             [o](std::string_view option, std::string_view value) {
               const auto [first, last] = parse_range(option, value, any - 1);
               o->first_id = first;
               o->ids = last - first + 1;
             });
  declare_clicks(known, *o);
  return [o](printer& out) { return run_gen(*o, out); };
}

}  // namespace

verb gen_verb() {
  return {"gen",
          "Make a sample stream to try things with",
          "words: random lower-case words of 4 to 12 letters; ten million of them hold 7.46% repeats by "
          "chance alone. clicks: click events with a unique id, of which a share is delivered again a little "
          "later. ids: uniform numbers out of a range.\n\nA sample depends only on its options and the seed, "
          "and is the same on every machine.",
          {{"A million words", "everseen gen words --count 1M > words.txt"},
           {"Clicks of which 5 % are delivered twice, times up to 10 s out of order, as CSV",
            "everseen gen clicks --count 10k --repeats 5% --disorder 10s --format csv > clicks.csv"},
           {"Ids out of ten billion, another sample of them",
            "everseen gen ids --count 1000 --range 1..10G --seed 7"}},
          declare_gen};
}

}  // namespace everseen::cli
