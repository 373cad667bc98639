#include "everseen/cli/planning/store_plan.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/report/made_filters.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

std::vector<made_filter> made_filters(const store_question& asked) {
  spec_request request;
  request.capacity = asked.keys;
  request.error_rate = asked.error_rate;
  request.judge = asked.judge;
  if (asked.store == "redis") return filters_made_on_redis(request, asked.module);
  return filters_made_on(*open_chosen({.url = asked.store, .timeout = asked.timeout}), request);
}

void print_json(const std::vector<made_filter>& all, printer& out) {
  auto rows = nlohmann::ordered_json::array();
  for (const made_filter& each : all)
    rows.push_back({{"made_by", each.by},
                    {"judge", to_string(each.of.judge)},
                    {"layout", to_string(each.of.layout)},
                    {"probes", each.of.probes},
                    {"partitions", each.of.partitions},
                    {"keys", each.of.capacity},
                    {"bytes", each.bytes()},
                    {"bits_per_key", each.bits_per_key()},
                    {"error_rate", each.of.error_rate}});
  out.print("{}\n", nlohmann::ordered_json{{"filters", rows}}.dump(2));
}

void print_table(const std::vector<made_filter>& all, printer& out) {
  const spec& any = all.front().of;
  out.print("{} keys at an error rate of {}; a filter that grows begins with:\n\n",
            format_count(any.capacity), format_rate(any.error_rate));
  out.print("{:<16}{:>12}{:>12}{:>8}{:>12}  {}\n", "layout", "memory", "bits a key", "probes", "partitions",
            "made by");
  for (const made_filter& each : all)
    out.print("{:<16}{:>12}{:>12.1f}{:>8}{:>12}  {}\n", to_string(each.of.layout),
              format_bytes(static_cast<double>(each.bytes())), each.bits_per_key(), each.of.probes,
              each.of.partitions, each.by);
}

}  // namespace

exit_code plan_on_store(const store_question& asked, printer& out) {
  const std::vector<made_filter> all = made_filters(asked);
  asked.json ? print_json(all, out) : print_table(all, out);
  return exit_code::done;
}

}  // namespace everseen::cli
