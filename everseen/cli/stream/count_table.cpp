#include "everseen/cli/stream/count_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "everseen/cli/stream/job_description.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/core/base/error.hpp"
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

count_table count(const ledger& book, const count_query& query) {
  const std::vector<names> sets = described_sets(book.description());
  const std::size_t set = set_for(query, sets);
  const places positions = places_of(query, sets[set]);
  count_table result;
  for (const std::size_t place : positions.shown) result.columns.push_back(sets[set][place]);
  book.visit_counters([&](std::string_view name, std::int64_t value) {
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

}  // namespace everseen::cli
