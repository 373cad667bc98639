#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/store/port/ledger.hpp"

namespace everseen::cli {

class printer;

/// A query over a job's counters.
struct count_query {
  /// Names of dimensions; none: the total; nothing: all those of the set.
  std::optional<std::vector<std::string>> names{};
  /// Only counters whose dimension has this value.
  std::vector<std::pair<std::string, std::string>> where;
};

/// A job's counts, summed over partitions and over the other dimensions; rows ascend by their values.
struct count_table {
  std::vector<std::string> columns;
  std::map<std::vector<std::string>, std::int64_t> rows;
};

/// Uses a set that has all dimensions of the query: without count_query::by the first one, else the one with
/// the fewest dimensions.
/// @throws parameter_error  the job has no counts, or no set has these dimensions: the message names all
/// @throws format_error     the counters are not those of everseen stream    @throws as visit_counters
[[nodiscard]] count_table count(const ledger& ledger, const count_query& query);

void print_table(const count_table& counts, printer& out);
void print_json(const count_table& counts, printer& out);
void print_csv(const count_table& counts, printer& out);

}  // namespace everseen::cli
