#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "everseen/cli/stream/count_table.hpp"
#include "everseen/cli/stream/job_description.hpp"
#include "everseen/cli/stream/stream_arguments.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"

namespace everseen::cli {

namespace {

enum class count_format : std::uint8_t { table, json, csv };

struct counts_arguments {
  store_choice store;
  std::string name;
  std::optional<std::string> job, dimensions;
  std::vector<std::string> where;
  std::optional<count_format> format;
  bool json = false;
};

std::optional<count_format> parse_count_format(std::string_view word) {
  if (word == "table") return count_format::table;
  if (word == "json") return count_format::json;
  if (word == "csv") return count_format::csv;
  return std::nullopt;
}

/// An empty list is the total.
words dimensions_of(const std::string& list) {
  std::istringstream in(list);
  words all;
  for (std::string word; std::getline(in, word, ',');) all.push_back(word);
  return all;
}

count_query query_of(const counts_arguments& o) {
  count_query query;
  if (o.dimensions) query.names = dimensions_of(*o.dimensions);
  for (const std::string& text : o.where) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw parameter_error(
          fmt::format("--where {} is not a condition; write DIMENSION=VALUE, as in site=news", text));
    query.where.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return query;
}

/// The job that was named, or else the only job of the filter.
std::string job_of(const counts_arguments& o, const std::vector<std::string>& jobs) {
  const std::string there = jobs_text(jobs);
  if (o.job) {
    if (std::find(jobs.begin(), jobs.end(), *o.job) != jobs.end()) return *o.job;
    throw parameter_error(
        fmt::format("the filter {} has no job {}; {}", quoted_name(o.name), quoted_name(*o.job), there));
  }
  if (jobs.size() == 1) return jobs.front();
  if (jobs.empty())
    throw parameter_error(fmt::format(
        "the filter {} has no counts; everseen stream --filter {} --to counts makes some, see everseen "
        "stream --help",
        quoted_name(o.name), name_argument(o.name)));
  throw parameter_error(fmt::format("say which job of the filter {} is meant, as in --job {}; {}",
                                    quoted_name(o.name), name_argument(jobs.front()), there));
}

exit_code run_counts(const counts_arguments& o, printer& out) {
  if (o.json && o.format) throw parameter_error("--json is --format json; give one of them");
  const auto place = chosen_store(o.store);
  const filter f = open(*place, o.name, access::read);
  const auto book = f.stored().open_ledger(job_of(o, place->jobs(o.name)), "");
  const count_table counts = count(*book, query_of(o));
  switch (o.format.value_or(o.json ? count_format::json : count_format::table)) {
    case count_format::table:
      print_table(counts, out);
      break;
    case count_format::json:
      print_json(counts, out);
      break;
    case count_format::csv:
      print_csv(counts, out);
  }
  return exit_code::done;
}

action declare_counts(option_set& known) {
  auto o = std::make_shared<counts_arguments>();
  add_name(known, o->name, {"NAME", "the filter"});
  add_name(known, "--job", o->job, {"JOB", "the job whose counts are wanted", "the only one"});
  add_text(known, "--by", o->dimensions,
           {"DIMENSION,...", "the dimensions to show; counters are summed over the others, with '' over all",
            "those of the first --count"});
  add_texts(known, "--where", o->where,
            {"DIMENSION=VALUE", "only counters with this value; may be repeated"});
  add_choice(known, "--format", o->format, {"table|json|csv", "how to print", "table"}, parse_count_format);
  add_switch(known, "--json", o->json, "the same as --format json");
  add_store_options(known, o->store);
  return [o](printer& out) { return run_counts(*o, out); };
}

}  // namespace

verb counts_verb() {
  constexpr std::string_view scene =
      "everseen gen clicks --count 1000 > clicks.jsonl; everseen stream --from clicks.jsonl --filter clicks "
      "--key-json /id --time-json /time --count 10m:/time,/site,/country";
  return {"counts",
          "Print what a streaming job has counted",
          "Shows the counters of everseen stream --to counts, even while it runs. Each event is counted "
          "once. Time dimensions are shown as the beginning of each interval, in UTC.",
          {{"Everything", "everseen counts clicks", scene},
           {"By site, of one country, for a spreadsheet",
            "everseen counts clicks --by site --where country=DE --format csv", scene}},
          declare_counts};
}

}  // namespace everseen::cli
