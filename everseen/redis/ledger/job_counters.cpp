#include "everseen/redis/ledger/job_counters.hpp"

#include <charconv>
#include <string>
#include <unordered_map>

#include "everseen/core/partition_keys.hpp"
#include "everseen/redis/keyspace/asking.hpp"

namespace everseen::redis {

namespace {

std::int64_t number_in(const std::string& key, std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
    throw damaged_key(key, "has a counter that is no number");
  return number;
}

}  // namespace

void visit_counters_at(session& with, const route& lanes, const ledger::counter_visitor& visit) {
  std::unordered_map<std::string, std::int64_t> counters;  // steps may tell of one field twice
  std::string cursor = "0";
  do {
    const reply page = ask_about(with, lanes, {"HSCAN", lanes.key, cursor, "COUNT", "1000"});
    cursor = page[0].text();
    const reply fields = page[1];
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
      if (const std::string_view field = fields[i].text(); partition_keys::is_counter_field(field))
        counters[std::string(field.substr(1))] = number_in(lanes.key, fields[i + 1].text());
  } while (cursor != "0" && !cursor.empty());
  for (const auto& [name, value] : counters)
    if (value != 0) visit(name, value);
}

}  // namespace everseen::redis
