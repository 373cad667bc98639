#include "everseen/cli/stream/counts.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "everseen/cli/stream/jobs.hpp"
#include "everseen/cli/stream/stream_arguments.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/dedup/record/event_rule.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

using names = std::vector<std::string>;

std::optional<std::size_t> place_in(const names& set, const std::string& name) {
  const auto found = std::find(set.begin(), set.end(), name);
  if (found == set.end()) return std::nullopt;
  return static_cast<std::size_t>(found - set.begin());
}

bool has_all(const names& set, const count_query& query) {
  const names shown = query.names.value_or(names());
  return std::all_of(shown.begin(), shown.end(), [&](const auto& n) { return place_in(set, n); }) &&
         std::all_of(query.where.begin(), query.where.end(),
                     [&](const auto& w) { return place_in(set, w.first); });
}

std::string listed(const std::vector<names>& sets) {
  std::string text;
  for (const names& set : sets)
    text += fmt::format("{}{}", text.empty() ? "" : "; ",
                        set.empty() ? "the total" : fmt::format("{}", fmt::join(set, ", ")));
  return text;
}

/// Every fresh event increments one counter of each set. So all sets that have the dimensions of the query
/// lead to the same sums, and the one with the fewest dimensions has the fewest counters to add up.
std::size_t set_for(const count_query& query, const std::vector<names>& sets) {
  if (sets.empty())
    throw parameter_error("this job counts nothing; everseen stream --count says what a job counts by");
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (!has_all(sets[i], query)) continue;
    if (!best || (query.names && sets[i].size() < sets[*best].size())) best = i;
  }
  if (best) return *best;
  throw parameter_error(
      fmt::format("no counts of this job have all these dimensions; it counts by {}", listed(sets)));
}

/// Which values of a counter are shown, and which are conditions.
struct places {
  std::vector<std::size_t> shown;
  std::vector<std::pair<std::size_t, std::string>> wanted;
};

places places_of(const count_query& query, const names& set) {
  places result;
  for (const std::string& name : query.names.value_or(set)) result.shown.push_back(*place_in(set, name));
  for (const auto& [name, value] : query.where) result.wanted.emplace_back(*place_in(set, name), value);
  return result;
}

}  // namespace

count_table count(const ledger& ledger, const count_query& query) {
  const std::vector<names> sets = described_sets(ledger.description());
  const std::size_t set = set_for(query, sets);
  const places positions = places_of(query, sets[set]);
  count_table result;
  for (const std::size_t place : positions.shown) result.columns.push_back(sets[set][place]);
  ledger.visit_counters([&](std::string_view name, std::int64_t value) {
    const auto counter = parse_counter(name);
    if (!counter || counter->set >= sets.size() || counter->values.size() != sets[counter->set].size())
      throw format_error("a counter of this job was not written by everseen stream; it was changed by hand");
    if (counter->set != set) return;
    for (const auto& [place, wanted] : positions.wanted)
      if (counter->values[place] != wanted) return;
    names row;
    for (const std::size_t place : positions.shown) row.push_back(counter->values[place]);
    result.rows[row] += value;
  });
  return result;
}

void print_table(const count_table& counts, printer& out) {
  std::vector<std::size_t> widths;
  for (const std::string& column : counts.columns) widths.push_back(column.size());
  for (const auto& [row, value] : counts.rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  const auto line = [&](const names& row, const std::string& last) {
    for (std::size_t i = 0; i < row.size(); ++i) out.print("{:<{}}  ", row[i], widths[i]);
    out.print("{:>15}\n", last);
  };
  line(counts.columns, "count");
  for (const auto& [row, value] : counts.rows)
    line(row, std::string(value < 0 ? "-" : "")
                  .append(format_count(static_cast<std::uint64_t>(value < 0 ? -value : value))));
}

void print_json(const count_table& counts, printer& out) {
  out.write("[");
  bool first = true;
  for (const auto& [row, value] : counts.rows) {
    nlohmann::ordered_json one;
    for (std::size_t i = 0; i < row.size(); ++i) one[counts.columns[i]] = row[i];
    one["count"] = value;
    out.print("{}\n  {}", first ? "" : ",",
              one.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    first = false;
  }
  out.write(first ? "]\n" : "\n]\n");
}

void print_csv(const count_table& counts, printer& out) {
  const auto quoted = [](const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) (c == '"' ? result += c : result) += c;
    return result + '"';
  };
  for (const std::string& column : counts.columns) out.print("{},", quoted(column));
  out.write("count\n");
  for (const auto& [row, value] : counts.rows) {
    for (const std::string& text : row) out.print("{},", quoted(text));
    out.print("{}\n", value);
  }
}

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
  const auto ledger = f.stored().open_ledger(job_of(o, place->jobs(o.name)), "");
  const count_table counts = count(*ledger, query_of(o));
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
